"""The checks of a project: access, quota, cities and networks."""

import pytest

from compute.decide.doctor import Fix, project_checks
from compute.decide.doctor.facts import Unread
from compute.decide.doctor.project import access_check, city_checks, network_checks, quota_check
from kubekit.api.errors import InternalError
from tests.support.compute.builders import NOW, condition, placement, workload
from tests.support.compute.doctor_builders import (
    ABSENT,
    FORBIDDEN,
    bad,
    bound,
    bucket,
    entitlement,
    network,
    project,
    said,
)

WEB = workload("web", placement("home", "DFW"))


def test_all_is_well():
    details = [f.detail for f in project_checks(project(WEB))]

    assert not bad(project_checks(project(WEB)))
    assert details == [
        "shop is served",
        "the project may use compute",
        "8 of 10 instances left; 4 of 10 vCPU left",
        "DFW, LHR can be used",
        "1 network in use, nothing wrong",
    ]


def test_what_cannot_be_read_is_skipped():
    facts = project(
        bindings=ABSENT,
        networks=FORBIDDEN,
        entitlements=Unread(InternalError("boom")),
        buckets=ABSENT,
    )

    assert [(status, why) for _, status, why, _ in bad(project_checks(facts))] == [
        ("skipped", "ServiceEntitlements: boom"),
        ("skipped", "AllowanceBuckets: the server does not serve the kind"),
        ("skipped", "LocationBindings: the server does not serve the kind"),
        ("skipped", "Networks: no permission to read them"),
    ]


@pytest.mark.parametrize(
    ("entitlements", "detail", "cure"),
    [
        ((), "not enabled for the project", "compute access request"),
        (
            (entitlement("PendingApproval"),),
            "requested, and not approved yet",
            "compute access",
        ),
        (
            (entitlement("Rejected", condition("Ready", "False", "No", "Not for you.")),),
            "denied: Not for you",
            "compute access request --renew",
        ),
        (
            (entitlement("Active", condition("Suspended", "True")),),
            "the project is suspended: instances stay stopped until that is lifted",
            "compute access",
        ),
    ],
)
def test_access(entitlements, detail, cure):
    assert said(access_check(project(entitlements=entitlements))) == ("failed", detail, cure)


def test_quota_that_is_nearly_used_up():
    facts = project(buckets=(bucket("vcpus", 1000, 10_000), bucket("instances", 5, 10)))
    nothing = project(buckets=(bucket("instances", 0, 0),))

    assert said(quota_check(facts)) == (
        "warning", "nearly used up: 1 of 10 vCPU left", "compute quota",
    )  # fmt: skip
    assert said(quota_check(nothing))[0] == "warning"
    assert said(quota_check(project(buckets=())))[0] == "skipped"


def test_cities_that_are_not_offered():
    facts = project(
        *(workload(f"w{i}", placement("home", "SIN", "DFW")) for i in range(5)),
        workload("last", placement("home", "FRA")),
    )

    assert bad(city_checks(facts)) == [
        (
            "cities", "failed",
            "SIN is not offered to the project, but w0, w1, w2 and 2 more name it",
            "compute cities",
        ),
        ("cities", "failed", "FRA is not offered to the project, but last names it", "compute cities"),
    ]  # fmt: skip
    assert bad(city_checks(project(bindings=()))) == [
        ("cities", "failed", "no city is offered to the project", "compute cities --all")
    ]


def test_cities_that_cannot_be_used_now():
    """Of a single Workload only its own cities matter."""
    down = bound("LHR", condition("Available", "False", "CellUnreachable", "No cell answers"))
    unknown = bound("SIN", condition("Available", "Unknown"))
    bindings = (bound("DFW"), down, unknown)
    both = workload("both", placement("home", "DFW", "LHR"))
    detail = "LHR cannot be used now: No cell answers"

    assert [f[2] for f in bad(city_checks(project(WEB, both, bindings=bindings)))] == [detail]
    assert [
        f[2] for f in bad(city_checks(project(WEB, both, bindings=bindings, checked=(both,))))
    ] == [detail]
    assert not bad(city_checks(project(WEB, both, bindings=bindings, checked=(WEB,))))


def test_a_workload_that_is_being_deleted_needs_no_city():
    leaving = workload("web", placement("home", "FRA"))
    leaving = type(leaving)(
        metadata=type(leaving.metadata)(name="web", namespace="default", deletion_timestamp=NOW),
        spec=leaving.spec,
    )

    assert not bad(city_checks(project(leaving)))


def test_a_missing_network_can_be_created():
    (missing,) = network_checks(project(WEB, networks=()))
    (elsewhere,) = network_checks(project(WEB, networks=(), namespace="other"))

    assert said(missing) == (
        "failed", "network default does not exist, and web needs it",
        "compute networks create default",
    )  # fmt: skip
    assert missing.fix is Fix.CREATE_NETWORK
    assert elsewhere.detail == "network default/default does not exist, and web needs it"
    assert elsewhere.cure == "compute networks create default --namespace default"
    assert elsewhere.fix is None


def test_networks_that_cannot_be_used():
    also = workload("also")
    leaving = network(deletion_timestamp=NOW)

    assert [f[2] for f in bad(network_checks(project(WEB, also, networks=(leaving,))))] == [
        "network default is being deleted, and web, also need it"
    ]
    assert [
        f[2] for f in bad(network_checks(project(WEB, networks=(network(ready="False"),))))
    ] == ["network default is not Ready, and web needs it: it has no addresses"]
    assert [f[2] for f in bad(network_checks(project(WEB, networks=(network(ready=""),))))] == [
        "network default is not Ready, and web needs it: nothing has reported on it yet"
    ]
    (unused,) = network_checks(project())
    assert unused.detail == "no network in use, nothing wrong"


def test_a_project_that_does_not_exist():
    assert bad(project_checks(project(workloads=ABSENT))) == [
        (
            "project", "failed", "shop does not exist here, or is still being set up",
            "compute config view",
        )
    ]  # fmt: skip


def test_a_project_that_cannot_be_read():
    (first, *_) = bad(project_checks(project(workloads=FORBIDDEN)))

    assert first == ("project", "skipped", "Workloads: no permission to read them", "")


def test_a_server_without_projects():
    checks = [finding.check.value for finding in project_checks(project(WEB, project=""))]

    assert checks == ["access", "quota", "cities", "networks"]
