"""The checks of a Workload's own records: name, controller, history, writers and deletion."""

import json
from datetime import timedelta

import msgspec
import pytest

from compute.decide.doctor import CheckStatus, workload_checks
from compute.decide.doctor.workloads import controller_check, history_check, name_check
from compute.decide.doctor.writers import last_spec_write, writers_check
from kubekit.api.meta import with_metadata
from tests.support.compute.builders import NOW, placement, template, workload
from tests.support.compute.doctor_builders import (
    FORBIDDEN,
    MINUTE,
    bad,
    facts,
    recorded,
    said,
    written,
)
from tests.support.compute.progress_builders import asked

HISTORY = "compute rollout history web"


def with_image(number: int):
    return workload("web", template=template(f"registry.test/web:{number}"))


def test_all_is_well():
    findings = list(workload_checks(facts()))

    assert not bad(findings)
    assert {f.subject for f in findings} == {"web"}
    assert [f.check.value for f in findings] == [
        "name", "controller", "history", "writers", "overrides", "restarts", "reports", "gates",
        "order", "images", "crashes", "configuration", "serving",
    ]  # fmt: skip


def test_names():
    long = workload("w" * 60, placement("home", "DFW"))
    too_long = workload("w" * 64)

    assert name_check(long).detail.startswith(
        "it fits; long names of deployments are shortened, as "
    )
    assert said(name_check(too_long)) == (
        "failed",
        "64 characters are too many for a label: at most 63 fit",
        f"compute destroy {'w' * 64}",
    )


@pytest.mark.parametrize(
    ("ago", "status", "detail"),
    [
        (10, "warning", "the platform has observed change 1 of 2; the last one is new"),
        (
            90,
            "failed",
            "the platform has observed change 1 of 2; the last one is 90s old: no controller works",
        ),
    ],
)
def test_a_change_that_is_not_observed(ago, status, detail):
    entry = written("kubectl", timedelta(seconds=ago))
    unobserved = with_metadata(asked(observed=1), managed_fields=(entry,))
    found = controller_check(unobserved, NOW)

    assert (found.status.value, found.detail) == (status, detail)


def test_a_change_of_unknown_age():
    assert controller_check(asked(observed=1), NOW).status is CheckStatus.WARNING


def test_history_that_is_missing_or_behind():
    behind = recorded(with_image(1))
    known = [
        history_check(facts(history=None)),
        history_check(facts(history=behind)),
        history_check(facts(history=FORBIDDEN)),
    ]

    assert list(map(said, known)) == [
        ("failed", "no revision is recorded: nothing can be undone", HISTORY),
        ("failed", "the present spec is not recorded; the last revision is 1", HISTORY),
        ("skipped", "ConfigMaps: no permission to read them", ""),
    ]


def test_history_of_a_new_change():
    new = with_metadata(asked(), creation_timestamp=NOW)
    missing = history_check(facts(new, history=None))
    behind = history_check(facts(new, history=recorded(with_image(1))))

    assert missing.status is behind.status is CheckStatus.WARNING


def test_writers():
    """Entries that own nothing of the spec, or a status, are of controllers."""
    one = with_metadata(
        asked(),
        managed_fields=(
            written("kubectl"),
            written("kubectl", MINUTE),
            written("helm", 60 * MINUTE),
            written("old", time=None),
            written("workload", subresource="status"),
        ),
    )
    assert said(writers_check(facts(one))) == (
        "passed", "the spec is written by kubectl, helm, old, and changes are not undone", "",
    )  # fmt: skip
    assert last_spec_write(one) == NOW

    two = with_metadata(asked(), managed_fields=(written("kubectl"), written("flux", MINUTE)))
    assert said(writers_check(facts(two, history=FORBIDDEN))) == (
        "warning", "kubectl, flux all wrote the spec within ten minutes: do they agree?", HISTORY,
    )  # fmt: skip
    assert "a tool that gave no name" in writers_check(facts()).detail


def by(history, *actors):
    """The history with these actors of its revisions."""
    data = {
        key: msgspec.json.encode(json.loads(value) | {"actor": actor}).decode()
        for (key, value), actor in zip(history.data.items(), actors, strict=True)
    }
    return msgspec.structs.replace(history, data=data)


def test_two_tools_that_undo_each_others_changes():
    a, b = with_image(1), with_image(2)
    known = recorded(b, a, b, a)
    fought = with_metadata(b, managed_fields=(written("kubectl"), written("flux")))
    alone = writers_check(facts(b, history=known))
    actors = writers_check(facts(b, history=by(known, "ana", "flux", "ana", "flux")))
    tools = writers_check(facts(fought, history=known))
    detail = "revisions 1 to 4 alternate between two specs"

    assert said(alone) == (
        "warning", f"{detail}: is something undone again and again?", HISTORY,
    )  # fmt: skip
    assert said(actors) == ("failed", f"{detail}, by ana, flux: stop one of the tools", HISTORY)
    assert said(tools) == ("failed", f"{detail}, by kubectl, flux: stop one of the tools", HISTORY)


def test_an_undo_and_another_is_no_conflict():
    a, b, c = with_image(1), with_image(2), with_image(3)

    assert writers_check(facts(a, history=recorded(a, b))).status is CheckStatus.PASSED
    assert writers_check(facts(c, history=recorded(c, b, a, b))).status is CheckStatus.PASSED


def test_a_deletion_is_the_only_matter():
    leaving = with_metadata(
        asked(),
        deletion_timestamp=NOW,
        finalizers=("compute.datumapis.com/workload-controller",),
    )
    long_ago = with_metadata(leaving, deletion_timestamp=NOW - 7 * MINUTE)
    ((check, status, detail, cure),) = bad(workload_checks(facts(leaving)))
    ((_, late, minutes, events),) = bad(workload_checks(facts(long_ago)))

    assert (check, status, cure) == ("deletion", "warning", "compute wait web --for deleted")
    assert "compute.datumapis.com/workload-controller holds it" in detail
    assert (late, events) == ("failed", "compute events web")
    assert minutes.startswith("for 7 minutes: Workload web is being removed.")
