"""What operators may set, and what becomes of mistakes."""

import pytest

from compute.providers.delays import Delay
from compute.providers.settings import MachineSettings, SettingsFault, parse


def test_nothing_set_is_the_default():
    """Machines start at once, and only telling images fail."""
    assert parse({}) == MachineSettings()


def test_everything_can_be_set():
    """Each key has its place; blanks around values do not matter."""
    asked = {
        "startSeconds": "1-2",
        "stopSeconds": "exp:3",
        "bootFailureRate": "0.5",
        "retrySeconds": "7",
        "crashRate": "1",
        "unavailableImages": "a*, b",
        "crashingImages": "",
        "misconfiguredImages": "c",
        "nodes": " 12 ",
        "lostNodes": "node-1,node-2/web-*",
        "recoverySeconds": "9",
    }

    assert parse(asked) == MachineSettings(
        start=Delay(1, 2),
        stop=Delay(mean=3),
        boot_failures=0.5,
        retry=7,
        crashes=1,
        unavailable_images=("a*", "b"),
        crashing_images=(),
        misconfigured_images=("c",),
        nodes=12,
        lost=("node-1", "node-2/web-*"),
        recovery=9,
    )


@pytest.mark.parametrize("text", ["0", "-1", "many", "10001", "99999999999999999999", "1.5", ""])
def test_there_is_at_least_one_node(text):
    """And no more than makes sense."""
    assert parse({"nodes": text}) == [
        SettingsFault("nodes", f"{text!r} is not a whole number from 1 to 10000")
    ]


def test_every_fault_is_reported():
    """All of them at once, by key."""
    found = parse({"crashRate": "2", "nodes": "3", "colour": "red", "startSeconds": "soon"})

    assert isinstance(found, list)
    assert [fault.key for fault in found] == ["colour", "crashRate", "startSeconds"]
    assert found[0].why.startswith("no such key; there are bootFailureRate, crashRate,")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("node-1", [True, True, False]),
        ("node-1/web-*", [True, False, False]),
        ("*", [True, True, True]),
        ("*/db-0", [False, True, False]),
        ("node-7", [False, False, False]),
    ],
)
def test_which_machines_a_lost_node_takes_along(entry, expected):
    """All of its machines, or those that a pattern names."""
    lost = MachineSettings(lost=(entry,))
    machines = [("node-1", "web-0"), ("node-1", "db-0"), ("node-2", "web-1")]

    assert [lost.is_lost(*each) for each in machines] == expected
