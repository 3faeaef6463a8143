"""The checks of a target: server, credentials, version, clock and kinds."""

from datetime import timedelta

import pytest

from compute.decide.doctor import connection_checks
from compute.decide.doctor.connection import (
    clock_check,
    credentials_check,
    kinds_check,
    version_check,
)
from compute.decide.doctor.facts import Unread
from kubekit.api.errors import Forbidden, InternalError, Timeout, Unauthorized, Unavailable
from tests.support.compute.builders import NOW
from tests.support.compute.doctor_builders import ABSENT, FORBIDDEN, bad, project, said, server

VIEW = "compute config view"


def test_all_is_well():
    findings = list(connection_checks(server(), project()))

    assert not bad(findings)
    assert [f.check.value for f in findings] == [
        "server", "credentials", "version", "clock", "kinds",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "error",
    [
        Unavailable("connection refused."),
        Timeout("GET /: not reached: connection refused; is it up?"),
    ],
)
def test_a_silent_server_skips_the_rest(error):
    first, *others = bad(connection_checks(server(error=error, start="compute up --detach"), None))

    assert first == (
        "server", "failed", "https://server.test does not answer: connection refused", "compute up --detach",
    )  # fmt: skip
    assert {(status, why) for _, status, why, _ in others} == {
        ("skipped", "the server does not answer")
    }


def test_a_silent_server_elsewhere():
    (first, *_) = bad(connection_checks(server(error=Unavailable("no route")), None))

    assert first[3] == VIEW


def test_a_refusal_is_an_answer():
    """A server that refuses /version, and names neither itself nor the user, still answers."""
    facts = server(
        version="", error=Forbidden("no"), user="", user_error=Forbidden("no"), time=None
    )
    findings = list(connection_checks(facts, None))

    assert said(findings[0]) == (
        "passed", "https://server.test answers, but not with its version", "",
    )  # fmt: skip
    assert bad(findings) == [
        ("credentials", "skipped", "the server does not say whose credentials they are", ""),
        ("version", "skipped", "the server does not name its version", ""),
        ("clock", "skipped", "the server does not give its time", ""),
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ("passed", "accepted as ana", "")),
        (
            {"user_error": Unauthorized("the token has expired.")},
            ("failed", "not accepted: the token has expired", VIEW),
        ),
        (
            {"user": "system:anonymous"},
            ("failed", "none: the server takes requests as anonymous", VIEW),
        ),
        (
            {"user": ""},
            ("skipped", "the server does not say whose credentials they are", ""),
        ),
        (
            {"user_error": InternalError("panic")},
            ("skipped", "the server does not say whose credentials they are", ""),
        ),
    ],
)
def test_credentials(changes, expected):
    assert said(credentials_check(server(**changes))) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ("passed", "this command is 0.1.0, for Kubernetes 1.30 and newer", "")),
        (
            {"version": "1.29.4"},
            (
                "warning",
                "Kubernetes 1.29.4 is older than 1.30: some commands may fail",
                "compute version",
            ),
        ),
        ({"version": "odd"}, ("skipped", "the server does not name its version", "")),
        ({"world_version": "0.1.0"}, ("passed", "0.1.0, the same as the platform", "")),
        (
            {"world_version": "0.0.9"},
            (
                "warning",
                "the platform runs version 0.0.9, this command is version 0.1.0: start it again",
                "compute down",
            ),
        ),
    ],
)
def test_versions(changes, expected):
    assert said(version_check(server(**changes))) == expected


@pytest.mark.parametrize(
    ("seconds", "status", "detail"),
    [
        (0, "passed", "the clocks of this machine and the server agree"),
        (5, "passed", "the clocks of this machine and the server agree"),
        (
            6,
            "warning",
            "the clock of this machine is 5s ahead of that of the server: ages are wrong",
        ),
        (
            -20,
            "warning",
            "the clock of this machine is 20s behind that of the server: ages are wrong",
        ),
        (
            -60,
            "failed",
            "the clock of this machine is 60s behind that of the server: ages are wrong, and tokens "
            "may be refused",
        ),
    ],
)
def test_clocks(seconds, status, detail):
    """The server's time is cut to whole seconds, and an answer takes a while."""
    here = NOW + timedelta(seconds=seconds)
    found = clock_check(server(asked_at=here, answered_at=here))

    assert (found.status.value, found.detail) == (status, detail)


def test_a_slow_answer_is_no_skew():
    found = clock_check(server(asked_at=NOW - timedelta(seconds=20), answered_at=NOW))

    assert found.status.value == "passed"


def test_kinds_that_cannot_be_read():
    facts = project(buckets=ABSENT, networks=FORBIDDEN, others={"Instance": FORBIDDEN})

    assert said(kinds_check(facts)) == (
        "warning",
        "not served: AllowanceBucket; no permission to read: Network, Instance; commands show less",
        VIEW,
    )


def test_without_workloads():
    """A project that does not exist is the matter of its own check."""
    unauthorized = Unread(Unauthorized("Unauthorized by server: check the token"))

    assert said(kinds_check(project(workloads=ABSENT)))[0] == "skipped"
    assert said(kinds_check(project(workloads=ABSENT, project=""))) == (
        "failed",
        "the server does not serve compute, or a project has to be chosen with --project",
        VIEW,
    )
    assert said(kinds_check(project(workloads=FORBIDDEN))) == (
        "failed", "workloads cannot be read: user may not list it", VIEW,
    )  # fmt: skip
    assert said(kinds_check(project(workloads=unauthorized))) == (
        "skipped", "the credentials are not accepted", "",
    )  # fmt: skip
