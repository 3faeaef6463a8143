"""When a failed deploy is not undone, and that its failure stays what it was."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from compute.api.compute import Workload
from compute.app.system_environment import system
from compute.cli.deploy.auto_undo import FailedDeploy, undone
from compute.cli.deploy.deploy_mode import DeployMode
from compute.cli.exits import Exit, Failure
from compute.cli.shell.session import Session
from compute.cli.target.chosen import Target, TargetRule
from kubekit.api.errors import Unavailable, not_found
from kubekit.api.kinds.core import ConfigMap
from kubekit.client.client import Client
from kubekit.client.connection import Anonymous, Connection
from tests.support.compute.builders import placement, template, workload

BEFORE = workload("web", template=template("web:1"))
AFTER = workload("web", template=template("web:2"))
MODE = DeployMode(
    yes=True, output="table", dry_run=None, diff=False, exit_code=False, detach=False,
    auto_undo=True, timeout=timedelta(minutes=1), save=None,
)  # fmt: skip
CAUSE = Failure(
    "the rollout of web failed in DFW: no such image",
    Exit.FAILED,
    next_step="compute rollout undo web",
    reason="ImageUnavailable",
    city="DFW",
)


class FakeReads(Client):
    """A server with one Workload and no history. It refuses every write."""

    def __init__(self, stored: Workload | None) -> None:
        self.stored = stored

    async def get(self, kind: type[Any], name: str, namespace: str = "") -> Any:
        if self.stored is None:
            raise Unavailable("the server cannot be reached")
        return self.stored

    async def find(self, kind: type[Any], name: str, namespace: str = "") -> Any:
        assert kind is ConfigMap
        return None

    async def list(self, kind: type[Any], *_: Any, **__: Any) -> Any:
        raise not_found(kind.RESOURCE, "")


def ended(stored: Workload | None, before: Workload | None = BEFORE) -> Failure:
    target = Target(
        connection=Connection(server="https://test", credentials=Anonymous()),
        project="demo", namespace="default", rule=TargetRule.FLAGS, detail="",
    )  # fmt: skip
    session = Session(target, FakeReads(stored), system())
    failed = FailedDeploy(before=before, after=AFTER, paused=(), failure=CAUSE)
    return asyncio.run(undone(session, failed, MODE))


@pytest.mark.parametrize(
    ("before", "stored", "why"),
    [
        (None, AFTER, "web is new, so there is no earlier revision"),
        (
            workload("web", placement(replicas=2), template=template("web:2")),
            AFTER,
            "the deploy did not change the template",
        ),
        (
            BEFORE,
            workload("web", template=template("web:3")),
            "another client has changed web since",
        ),
        (BEFORE, AFTER, "the workload has no history yet"),
    ],
    ids=["new", "scaled", "changed by another", "no history"],
)
def test_what_is_not_undone_has_a_reason(before, stored, why):
    """Only the change of this deploy is undone, and only to a revision that ran."""
    failure = ended(stored, before)

    assert str(failure) == f"{CAUSE}; nothing was undone: {why}"
    assert failure.next_step == CAUSE.next_step


def test_the_cause_stays_when_the_server_is_lost():
    """The deploy has failed whatever happens to its undo."""
    failure = ended(None)

    assert str(failure) == f"{CAUSE}; the undo did not succeed: the server cannot be reached"
    assert failure.next_step == "compute rollout status web"
    assert (failure.code, failure.reason, failure.city) == (4, "ImageUnavailable", "DFW")
