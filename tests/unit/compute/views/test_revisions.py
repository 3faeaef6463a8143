"""The revisions of a Workload as users read them."""

import msgspec
from msgspec.structs import replace

from compute.api import labels
from compute.api.compute import Instance, Workload
from compute.decide.deployment.template import template_hash
from compute.decide.overrides import restarted, template_for
from compute.decide.workload import history
from compute.decide.workload.history import RevisionStatus
from compute.views.revisions import revision_diff, revision_views
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.kinds.value_sources import EnvVar
from tests.support.compute.builders import NOW, instance, placement, template, workload


def version(number: int, replicas: int = 1, token: str = "") -> Workload:
    made = template(f"web:{number}")
    sandbox = made.spec.runtime.sandbox
    assert sandbox is not None
    (container,) = sandbox.containers
    container = replace(container, env=(EnvVar(name="TOKEN", value=token),) if token else ())
    runtime = replace(made.spec.runtime, sandbox=replace(sandbox, containers=(container,)))
    home = placement("home", "DFW", "LHR", replicas=replicas)
    return workload("web", home, template=replace(made, spec=replace(made.spec, runtime=runtime)))


def recorded(*versions: Workload) -> ConfigMap:
    """The history after these specs. The first one served."""
    kept = ConfigMap()
    for each in versions:
        kept = history.record(kept, each, "jo", NOW) or kept
        kept = kept if each is not versions[0] else history.mark_healthy(kept, NOW) or kept
    return kept


def running(of: Workload, city: str) -> Instance:
    made = template_hash(template_for(of, city))
    return instance(template_hash=made, labels={labels.CITY_CODE: city})


def test_the_newest_revision_is_the_first():
    """Each with its outcome, and the cities that run it now."""
    known = recorded(version(1), version(2), version(3))
    views = revision_views(
        version(3), known, (running(version(3), "LHR"), running(version(2), "DFW"))
    )

    assert [(v.rev, v.status, v.cities, v.actor) for v in views] == [
        (3, RevisionStatus.ACTIVE, ("LHR",), "jo"),
        (2, RevisionStatus.FAILED, ("DFW",), "jo"),
        (1, RevisionStatus.SUPERSEDED, (), "jo"),
    ]


def test_a_city_in_the_middle_of_a_rollout_runs_two_revisions():
    """Cities are in the order of the spec; those that are left come last."""
    known = recorded(version(1), version(2))
    there = [running(version(2), city) for city in ("SIN", "LHR", "DFW")]
    views = revision_views(version(2), known, (*there, running(version(1), "DFW")))

    assert [v.cities for v in views] == [("DFW", "LHR", "SIN"), ("DFW",)]


def test_a_restarted_city_runs_its_revision_still():
    """The stamp of a restart is part of the hash of a template, and not of the revision."""
    after = restarted(version(1), ("LHR",), NOW)
    (view,) = revision_views(after, recorded(version(1)), (running(after, "LHR"),))

    assert view.cities == ("LHR",)


def test_what_no_revision_explains_runs_none():
    """Without a right to read Instances, it is not known where a revision runs."""
    known = recorded(version(1))

    assert revision_views(version(1), known, (running(version(9), "DFW"),))[0].cities == ()
    assert revision_views(version(1), known, None)[0].cities is None
    assert revision_views(version(1), None, ()) == ()


def test_the_fields_of_the_stored_history_have_their_names():
    """A reader of the history can read the JSON of the view."""
    stored = msgspec.json.decode(recorded(version(1)).data["1"])
    (view,) = msgspec.to_builtins(revision_views(version(1), recorded(version(1)), ()))

    assert stored.keys() <= view.keys()
    assert {k: v for k, v in stored.items() if k != "spec"}.items() <= view.items()


def test_the_differences_from_the_revision_before():
    """Values of variables are masked; one that changed is marked."""
    known = recorded(version(1, token="a"), version(2, token="b"))
    view = revision_diff(2, version(2), known, ())

    assert view is not None
    assert (view.revision.rev, view.before) == (2, 1)
    assert view.differences == ("env TOKEN changed", "image: web:1 → web:2")
    texts = [str(spec) for spec in (view.before_spec, view.revision.spec)]
    assert ["'value': '(masked)'" in text for text in texts] == [True, False]
    assert "'value': '(masked, changed)'" in texts[1]


def test_the_first_revision_has_nothing_before_it():
    """An unknown one is None."""
    known = recorded(version(1), version(2))
    first = revision_diff(1, version(2), known, None)

    assert first is not None
    assert (first.before, first.before_spec, first.differences) == (None, None, ())
    assert revision_diff(9, version(2), known, ()) is None


def test_a_damaged_spec_is_none():
    """The rest of the revision is shown all the same."""
    known = recorded(version(1), version(2))
    damaged = msgspec.structs.replace(history.revisions(known)[0], spec="{")
    known = replace(known, data=known.data | {"1": msgspec.json.encode(damaged).decode()})
    first, second = revision_diff(1, version(2), known, ()), revision_diff(2, version(2), known, ())

    assert first is not None
    assert second is not None
    assert (first.revision.spec, first.revision.image) == (None, "web:1")
    assert (second.before, second.before_spec, second.differences) == (1, None, ())
