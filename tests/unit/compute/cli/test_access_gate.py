"""The gate before a change, against the plane of a project and one without entitlements."""

import asyncio
from datetime import timedelta

import msgspec
import pytest

from compute.api.services import ServiceEntitlement
from compute.cli.exits import Exit, Failure, Quit
from compute.cli.shell.access import decision
from compute.cli.shell.access_gate import require_access
from compute.cli.shell.session import Session
from compute.decide.access_state import AccessState
from kubekit.api.errors import Unavailable
from kubekit.plane import LocalClient, Plane, builtin_kinds
from kubekit.plane.store.store import Store
from tests.support.compute.builders import condition
from tests.support.compute.sessions import session
from tests.support.kubekit.following_builders import Answer, World, run_in_world
from tests.support.kubekit.plane_worlds import environment
from tests.support.kubekit.stage import Stage, staged
from tests.unit.compute.services.test_entitlements import entitlement

SHOP = (("projects", "shop"),)


async def given(stage: Stage, phase: str, reason: str = "", *, entitled: bool = False) -> Session:
    """The session of a project whose entitlement has this status."""
    client = stage.client("shop")
    made = await client.create(entitlement())
    now = stage.environment.now()
    status = msgspec.structs.replace(
        made.status,
        phase=phase,
        entitled_at=now if entitled else None,
        conditions=(condition("Ready", "False", reason or "Test", "The reason.", since=now),),
    )
    await client.patch_status(made, msgspec.structs.replace(made, status=status))
    return session(client, stage.environment)


@pytest.mark.parametrize(
    ("status", "code", "cause", "next_step"),
    [
        (("Rejected", "", False), Exit.DENIED, "denied for project shop: The reason", "--renew"),
        (("Rejected", "", True), Exit.DENIED, "revoked for project shop: The reason", "--renew"),
        (
            ("PendingApproval", "ServiceNotPublished", False),
            Exit.UNAVAILABLE,
            "compute is not available for project shop: The reason",
            "config view",
        ),
    ],
)
def test_a_project_that_may_not_use_compute_is_refused(tmp_path, status, code, cause, next_step):
    """The server says why, and there is one next command."""
    phase, reason, entitled = status

    async def story(stage: Stage) -> None:
        with pytest.raises(Failure, match=cause) as failure:
            await require_access(await given(stage, phase, reason, entitled=entitled))
        assert failure.value.code is code
        assert failure.value.next_step.endswith(next_step)

    staged(tmp_path, story, *SHOP)


def test_an_active_project_passes(tmp_path):
    """With one request."""

    async def story(stage: Stage) -> None:
        await require_access(await given(stage, "Active"))

    staged(tmp_path, story, *SHOP)


def test_without_a_terminal_nothing_is_requested(tmp_path):
    """A script gets a code of its own."""

    async def story(stage: Stage) -> None:
        client = stage.client("shop")
        with pytest.raises(Failure, match="nothing was requested or changed") as failure:
            await require_access(session(client, stage.environment))
        assert failure.value.code is Exit.NOT_ENABLED
        assert (await client.every(ServiceEntitlement)).items == ()

    staged(tmp_path, story, *SHOP)


def test_a_young_request_is_waited_for(tmp_path, capsys):
    """For fifteen seconds, until the platform answers; an old one is reported at once."""

    async def story(stage: Stage) -> None:
        waiting, loop = await given(stage, ""), asyncio.get_running_loop()
        before = loop.time()
        with pytest.raises(Quit) as end:
            await require_access(waiting)
        assert end.value.code is Exit.PENDING
        assert 14.0 < loop.time() - before < 16.0
        before = loop.time()
        with pytest.raises(Quit):
            await require_access(waiting)
        assert loop.time() - before < 1.0

    staged(tmp_path, story, *SHOP)
    assert "was requested for project shop 15s ago. The platform has not answered" in (
        capsys.readouterr().err
    )


def test_an_answer_ends_the_wait(tmp_path):
    """As soon as it is there."""

    async def story(stage: Stage) -> None:
        waiting = await given(stage, "PendingApproval")
        decided = asyncio.create_task(decision(waiting, timedelta()))
        await asyncio.sleep(100)
        client = stage.client("shop")
        present = await client.get(ServiceEntitlement, "compute")
        status = msgspec.structs.replace(present.status, phase="Active")
        await client.patch_status(present, msgspec.structs.replace(present, status=status))
        assert (await decided).state == "Active"

    staged(tmp_path, story, *SHOP)


def test_a_server_that_is_lost_is_no_answer(tmp_path):
    """While the entitlements cannot be listed, nothing is known: not that none was requested."""

    async def story(world: World) -> None:
        made = await world.writer.create(entitlement())
        status = msgspec.structs.replace(made.status, phase="Active")
        await world.writer.patch_status(made, msgspec.structs.replace(made, status=status))
        world.transport.lists.extend([Answer(refusal=Unavailable("no connection"))] * 2)
        waiting = session(world.client, environment())
        assert (await decision(waiting, timedelta())).state is AccessState.ACTIVE

    run_in_world(tmp_path, story)


def test_a_plain_cluster_needs_no_access(tmp_path):
    """It serves no entitlements, and has no projects; a platform without a catalog has one."""

    async def story(stage: Stage) -> None:
        store = await Store.open(tmp_path / "plain.db", stage.environment, threaded=False)
        plane = await Plane.on(store, builtin_kinds(), stage.environment)
        try:
            await require_access(session(LocalClient(plane), stage.environment, project=""))
        finally:
            await plane.close()

    staged(tmp_path, story, *SHOP)
