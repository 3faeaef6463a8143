"""The simulated provider: what it does for each Instance of a cell."""

from datetime import timedelta

import msgspec

from compute.api import finalizers
from compute.api.compute import Instance
from compute.providers.machines import NODE, STARTED
from compute.providers.simulated import controllers
from tests.support.compute.network_builders import linked, settings
from tests.support.compute.provider_builders import (
    CELL,
    NS,
    addresses,
    cell,
    live,
    machine,
    message,
    name,
    say,
    seen,
    start,
    status_and_reason,
    ungate,
)
from tests.support.kubekit.stage import staged


def test_an_instance_without_gates_is_started(tmp_path):
    """It is programmed and available, echoes its template, and has an address of the subnet."""

    async def story(stage):
        await cell(stage)
        before = len(stage.writes)

        await start(stage, machine())
        done = await seen(stage)

        assert status_and_reason(done, "Programmed") == ("True", "Programmed")
        assert status_and_reason(done, "Ready") == ("Unknown", "Pending")
        observed, made = done.status.controller, done.spec.controller
        assert observed is not None
        assert made is not None
        assert observed.observed_template_hash == made.template_hash
        assert addresses(done) == ["10.0.0.2"]
        assert done.metadata.finalizers == (finalizers.SIMULATED,)
        await stage.rest()
        assert len(stage.writes) - before == 3  # made by the user; finalizer; status
        assert await stage.quiet() == []

    staged(tmp_path, story, CELL)


def test_nothing_happens_while_gates_remain(tmp_path):
    """Not even a finalizer is written; when the last gate opens, the machine starts."""

    async def story(stage):
        await cell(stage)
        await start(stage, machine(gates=("Network", "Quota")))
        await stage.rest()
        await ungate(stage, 0, "Quota")
        await stage.rest()
        waiting = await live(stage)
        assert waiting.metadata.finalizers == ()
        assert status_and_reason(waiting, "Programmed") == ("Unknown", "Pending")

        await ungate(stage, 0)
        await seen(stage)

    staged(tmp_path, story, CELL)


def test_nothing_happens_while_quota_is_denied(tmp_path):
    """The quota controller writes the conditions while it denies; after that the provider does again."""

    async def story(stage):
        await cell(stage)
        await start(stage, machine(), machine(1, gates=("Quota",)))
        await seen(stage)
        for ordinal in (0, 1):
            await say(stage, ordinal, "QuotaGranted", "False", "QuotaExceeded")
            await say(stage, ordinal, "Programmed", "False", "PendingQuota")
            await say(stage, ordinal, "Available", "False", "PendingQuota")
        await ungate(stage, 1)
        assert await stage.quiet() == []

        await say(stage, 0, "QuotaGranted", "True", "QuotaAvailable")
        await seen(stage)
        assert (await live(stage, 1)).metadata.finalizers == ()

    staged(tmp_path, story, CELL)


def test_what_others_say_is_left_alone(tmp_path):
    """Only our own conditions are ours: Ready stays as the cell wrote it."""

    async def story(stage):
        await cell(stage)
        await start(stage, machine(gates=("Quota",)))
        await say(stage, 0, "Ready", "False", "SchedulingGatesPresent")
        await ungate(stage, 0)

        done = await seen(stage)

        assert status_and_reason(done, "Ready") == ("False", "SchedulingGatesPresent")

    staged(tmp_path, story, CELL)


def test_our_own_conditions_are_put_back(tmp_path):
    """A change by another client is undone."""

    async def story(stage):
        await cell(stage)
        await start(stage, machine())
        await seen(stage)
        await say(stage, 0, "Programmed", "False", "Wrong")

        done = await stage.named(
            "dfw",
            Instance,
            name(),
            NS,
            lambda i: status_and_reason(i, "Programmed") == ("True", "Programmed"),
        )
        assert addresses(done) == ["10.0.0.2"]

    staged(tmp_path, story, CELL)


def test_starting_takes_its_time(tmp_path):
    """Until it is up the machine says that it is being set up, whichever process asks."""

    async def story(stage):
        await cell(stage)
        await settings(stage, "dfw", "simulated-provider", startSeconds="20")
        await stage.rest()
        started_at = stage.environment.now()
        await start(stage, machine())
        starting = await seen(stage, available="Provisioning")
        assert status_and_reason(starting, "Programmed") == ("False", "ProgrammingInProgress")
        assert addresses(starting) == []
        assert starting.status.controller is not None

        await seen(stage)
        took = stage.environment.now() - started_at
        assert timedelta(seconds=20) <= took < timedelta(seconds=21)

    staged(tmp_path, story, CELL)


def test_a_machine_outlives_its_provider(tmp_path):
    """Another process goes on where the first one stopped: the machine is what the Instance says."""

    async def story(stage):
        await cell(stage, copies=0)
        await settings(stage, "dfw", "simulated-provider", startSeconds="20")
        await start(stage, machine())
        started_at = stage.environment.now() - timedelta(seconds=19)
        there = await live(stage)
        meta = msgspec.structs.replace(
            there.metadata,
            finalizers=(finalizers.SIMULATED,),
            annotations={NODE: "node-1", STARTED: started_at.isoformat().replace("+00:00", "Z")},
        )
        await stage.client("dfw").patch(there, msgspec.structs.replace(there, metadata=meta))
        stage.start(*controllers(stage.role("cell"), stage.factory))

        done = await seen(stage, seconds=5.0)

        assert message(done) == "The machine runs on node-1"

    staged(tmp_path, story, CELL)


def test_deleting_stops_the_machine_first(tmp_path):
    """The Instance is held until the machine has stopped, and says so meanwhile."""

    async def story(stage):
        await cell(stage)
        await settings(stage, "dfw", "simulated-provider", stopSeconds="30")
        await start(stage, machine())
        running = await seen(stage)
        started_at = stage.environment.now()
        await stage.client("dfw").delete(running)
        stopping = await seen(stage, available="Stopping")
        assert status_and_reason(stopping, "Programmed") == ("True", "Programmed")

        await stage.gone("dfw", Instance, name(), NS)
        took = stage.environment.now() - started_at
        assert timedelta(seconds=29) <= took < timedelta(seconds=31)

    staged(tmp_path, story, CELL)


def test_deleting_without_delay_takes_one_write(tmp_path):
    """The finalizer is removed, and no status is written."""

    async def story(stage):
        await cell(stage)
        await start(stage, machine(), machine(1, gates=("Quota",)))
        running = await seen(stage)
        await stage.rest()
        before = len(stage.writes)
        await stage.client("dfw").delete(running)
        await stage.gone("dfw", Instance, name(), NS)
        await stage.rest()
        assert len(stage.writes) - before == 2  # the deletion, and the release

        await stage.client("dfw").delete(await live(stage, 1))
        await stage.gone("dfw", Instance, name(1), NS)

    staged(tmp_path, story, CELL)


def test_w17_others_may_wait_for_the_machine_to_stop(tmp_path):
    """Our finalizer goes when the machine has stopped, though others hold the Instance longer."""

    async def story(stage):
        await cell(stage)
        made = machine()
        held = msgspec.structs.replace(made.metadata, finalizers=(finalizers.CLAIM,))
        await start(stage, msgspec.structs.replace(made, metadata=held))
        await stage.client("dfw").delete(await seen(stage))

        left = await stage.named(
            "dfw", Instance, name(), NS, lambda i: finalizers.SIMULATED not in i.metadata.finalizers
        )

        assert left.metadata.finalizers == (finalizers.CLAIM,)
        assert await stage.quiet() == []

    staged(tmp_path, story, CELL)


def test_two_providers_end_where_one_does(tmp_path):
    """With every controller running twice, machines have addresses apart, and rest."""

    async def story(stage):
        await cell(stage, copies=2)
        await start(stage, *(machine(ordinal) for ordinal in range(20)))
        for ordinal in range(20):
            await seen(stage, ordinal)
        await stage.rest()

        got = [addresses(await live(stage, ordinal))[0] for ordinal in range(20)]
        assert len(set(got)) == 20
        assert await stage.quiet() == []

    staged(tmp_path, story, CELL)


def test_a_provider_that_cannot_reach_its_cell(tmp_path):
    """It goes on when it can."""

    async def story(stage):
        link = await linked(stage, "cell", "dfw")
        await cell(stage)
        await stage.rest()
        link.cut()
        await start(stage, machine())
        await stage.rest(120.0)
        link.heal()

        await seen(stage, seconds=900.0)

    staged(tmp_path, story)


def test_an_instance_that_was_not_made_from_a_template(tmp_path):
    """It runs; there is no hash to echo."""

    async def story(stage):
        await cell(stage)
        made = machine()
        await start(
            stage,
            msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, controller=None)),
        )

        assert (await seen(stage)).status.controller is None

    staged(tmp_path, story, CELL)
