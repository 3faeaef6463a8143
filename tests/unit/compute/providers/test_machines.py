"""What a machine does at a given moment."""

from datetime import timedelta

import msgspec
import pytest

from compute.api.instance_spec import (
    DiskPopulator,
    DiskSpec,
    DiskTemplate,
    DiskVolume,
    FilesystemPopulator,
    ImagePopulator,
    Runtime,
    VirtualMachine,
    Volume,
    VolumeAttachment,
)
from compute.providers.delays import Delay
from compute.providers.machines import (
    NODE,
    STARTED,
    Machine,
    annotations_of,
    contradicts,
    machine_of,
    new_machine,
    state_of,
)
from compute.providers.settings import MachineSettings
from tests.support.compute.builders import NOW, condition, instance

MADE = Machine("node-1", NOW)


def after(seconds):
    return NOW + timedelta(seconds=seconds)


def vm(image):
    """An Instance that boots a machine from a disk with this image, beside an empty disk."""
    disks = (
        DiskPopulator(image=ImagePopulator(name=image)),
        DiskPopulator(filesystem=FilesystemPopulator(type="ext4")),
        None,
    )
    volumes = tuple(
        Volume(
            name=f"disk-{number}",
            disk=DiskVolume(template=DiskTemplate(spec=DiskSpec(populator=populator))),
        )
        for number, populator in enumerate(disks)
    )
    boots = VirtualMachine(volume_attachments=(VolumeAttachment(name="disk-0"),))
    made = instance()
    resources = made.spec.runtime.resources
    spec = msgspec.structs.replace(
        made.spec,
        volumes=(*volumes, Volume(name="other")),
        runtime=Runtime(resources=resources, virtual_machine=boots),
    )
    return msgspec.structs.replace(made, spec=spec)


def test_a_machine_is_what_the_instance_says():
    """A machine written to annotations is read back, to the microsecond."""
    made = Machine("node-2", NOW + timedelta(microseconds=7))
    held = instance(annotations=annotations_of(made))

    assert machine_of(held) == made


@pytest.mark.parametrize(
    "annotations",
    [{}, {NODE: "node-1"}, {NODE: "node-1", STARTED: "yesterday"}],
    ids=["nothing", "half", "nonsense"],
)
def test_without_its_notes_there_is_no_machine(annotations):
    """It has to be started again."""
    assert machine_of(instance(annotations=annotations)) is None


def test_machines_are_spread_over_nodes():
    """Which node it is depends on the Instance; all nodes are used."""
    nodes = [new_machine(instance(number), MachineSettings(nodes=3), NOW) for number in range(50)]

    assert {each.node for each in nodes if each} == {"node-0", "node-1", "node-2"}


def test_no_machine_is_placed_on_a_lost_node():
    """The next one takes it; when all are lost, none does."""
    for number in range(20):
        assert (
            new_machine(instance(number), MachineSettings(nodes=2, lost=("node-0",)), NOW) == MADE
        )
    assert new_machine(instance(), MachineSettings(lost=("*",)), NOW) is None


def test_a_machine_boots_in_its_time():
    """Until then it tells how long it still takes."""
    slow = MachineSettings(start=Delay(10, 10))

    early = state_of(instance(), MADE, slow, after(4))

    assert (early.programmed.status, early.available.status, early.requeue_after) == (
        "False",
        "False",
        6,
    )
    assert state_of(instance(), MADE, slow, after(10)).available.status == "True"


def test_failing_to_boot_takes_longer_each_time():
    """The pauses double up to a limit, and after very many attempts there is no next one."""
    never = MachineSettings(boot_failures=1.0, retry=4.0)
    waits = [
        state_of(instance(), MADE, never, after(passed)).requeue_after for passed in (0, 4, 12, 28)
    ]

    assert waits == [4, 8, 16, 32]
    assert state_of(instance(), MADE, never, after(10_000_000)).requeue_after is None
    assert state_of(instance(), MADE, never, after(10_000_000)).available.status == "False"


def test_some_machines_boot_at_the_second_attempt():
    """At a rate of a half, about half of them do at once, and all do in the end."""
    risky = MachineSettings(boot_failures=0.5, retry=1.0)
    at_once = [
        state_of(instance(number), MADE, risky, NOW).available.status == "True"
        for number in range(200)
    ]

    assert 60 < sum(at_once) < 140
    assert all(
        state_of(instance(number), MADE, risky, after(100_000)).available.status == "True"
        for number in range(200)
    )


def test_the_images_of_disks_count_too():
    """A machine whose disk has no image to be filled from cannot start."""
    state = state_of(vm("datumcloud/does-not-exist"), MADE, MachineSettings(), NOW)

    assert state.available.reason == "ImageUnavailable"
    assert (
        state_of(vm("datumcloud/ubuntu"), MADE, MachineSettings(), NOW).available.status == "True"
    )


@pytest.mark.parametrize(
    ("programmed", "node", "up"),
    [("True", "node-1", True), ("False", "node-1", False), ("True", "node-0", False)],
    ids=["up", "not up", "an earlier machine"],
)
@pytest.mark.parametrize("since", [-600, 0, 5, 600])
def test_a_machine_that_was_up_does_not_boot_again(programmed, node, up, since):
    """Other latencies apply to machines started after that, by any provider's clock.

    A machine on a new node has to boot.
    """
    said = (
        condition("Programmed", programmed, "Programmed", f"The machine is set up on {node}"),
        condition("Available", since=after(since)),
    )
    slow = MachineSettings(start=Delay(600, 600))
    made = Machine("node-1", NOW + timedelta(microseconds=7))

    verdict = state_of(instance(conditions=said), made, slow, after(60))

    assert (verdict.available.status == "True") is up


@pytest.mark.parametrize(
    ("settings", "before", "after_that"),
    [
        (MachineSettings(), MachineSettings(start=Delay(10, 10)), False),
        (MachineSettings(), MachineSettings(), False),
        (MachineSettings(crashes=1.0), MachineSettings(), True),
        (MachineSettings(), MachineSettings(crashes=1.0), True),
        (MachineSettings(lost=("*",)), MachineSettings(), True),
        (MachineSettings(boot_failures=1.0), MachineSettings(start=Delay(10, 10)), True),
    ],
    ids=["comes up", "the same", "crashes", "recovers", "is lost", "does not boot"],
)
def test_what_takes_back_what_was_said(settings, before, after_that):
    """Anything else than before does, but for a machine that comes up when it is time."""
    then = state_of(instance(), MADE, before, NOW)
    said = instance(
        conditions=tuple(
            condition(kind, each.status, each.reason, each.message)
            for kind, each in (("Programmed", then.programmed), ("Available", then.available))
        )
    )

    assert contradicts(said, state_of(said, MADE, settings, NOW)) is after_that
    assert not contradicts(instance(), state_of(instance(), MADE, settings, NOW))


def test_to_move_a_machine_takes_it_from_where_it_is():
    """Also when that is all it says."""
    lost = MachineSettings(lost=("node-1",), recovery=0.0)

    assert contradicts(instance(), state_of(instance(), MADE, lost, NOW))
