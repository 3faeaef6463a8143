"""`compute events`, on a running world."""

import json
import re
import signal

import pytest

from compute.api.compute import Workload
from tests.support.compute.builders import template
from tests.support.compute.project_objects import (
    BROKEN_IMAGE,
    create,
    delete,
    kubeconfig_of,
    wanted,
)

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

FINISHED = r"RolloutFinished"


@pytest.fixture
def runs(shop, name):
    """A workload that runs in one city, and whose events are all written."""
    create(shop, wanted(name))
    with shop.terminal("events", name, "-w", columns=200) as terminal:
        terminal.until(FINISHED)
    return name


def test_the_story_of_a_workload(shop_transcript, runs):
    """From the first revision to its last city, as one timeline."""
    shop_transcript.replace[runs] = "web"

    assert shop_transcript("events", runs).code == 0
    assert shop_transcript("events", runs, "--city", "DFW", "-o", "wide").code == 0
    assert shop_transcript("events", runs, "--since", "0s").code == 0
    assert shop_transcript("events", f"{runs}-default-dfw", "-o", "jsonl").code == 0


def test_a_workload_that_is_gone_still_has_its_story(shop_transcript, shop, runs):
    """Events outlive their object, which is when they are needed most."""
    shop_transcript.replace[runs] = "web"
    delete(shop, Workload, runs)
    assert shop("wait", runs, "--for", "deleted").code == 0

    done = shop_transcript("events", runs, "--city", "DFW")

    assert done.code == 0


def test_why_it_does_not_start(shop_transcript, shop, name):
    """A cause in a cell is in the timeline of the project, with its city."""
    shop_transcript.replace[name] = "web"
    create(shop, wanted(name, of=template(BROKEN_IMAGE)))
    with shop.terminal("events", name, "-w", columns=200) as terminal:
        terminal.until(r"deployment/\S+ +ImageUnavailable")

    assert shop_transcript("events", name).code == 0


def test_mistakes(transcript):
    """Each names what to type instead."""
    assert transcript("events", "--city", "DFX", "-o", "json").code == 7
    assert transcript("events", "no-such-workload").code == 7
    assert transcript("events", "no-such-workload", "-o", "json").code == 7
    assert transcript("events", "-w", "-o", "json").code == 2
    assert transcript("events", "--since", "yesterday").code == 2


def test_events_without_permission(transcript, compute, name):
    """A user whose role was revoked reads what is missing, and where the credentials come from."""
    transcript.replace[name] = "lou"
    kubeconfig = kubeconfig_of(compute, name)
    assert compute("plane", "users", "remove", name, "--project=demo").code == 0

    assert transcript("events", "--kubeconfig", kubeconfig).code == 1
    assert transcript("events", "-w", "--kubeconfig", kubeconfig).code == 1


def test_new_events_as_json_lines(shop, name):
    """-w goes on with what happens, and Ctrl-C of a script ends it with 130."""
    create(shop, wanted(name))
    process = shop.start("events", name, "-w", "-o", "jsonl")
    try:
        reasons = []
        while "RolloutFinished" not in reasons:
            reasons.append(json.loads(process.stdout.readline())["reason"])
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    finally:
        process.kill()
        process.communicate()

    assert reasons[0] == "Created"


def test_a_person_ends_it_with_ctrl_c(shop, runs):
    """On a terminal Ctrl-C is how to end it: the code is 0, and no message about an interruption."""
    with shop.terminal("events", runs, "-w", columns=80) as terminal:
        screen = terminal.until(FINISHED)
        terminal.type("\x03")
        assert terminal.ended() == 0

    assert re.search(r"^TIME +CITY +OBJECT +REASON", screen)
    assert re.search(r"^      Revision 1 is served in every city$", screen, re.MULTILINE)
    assert "Interrupted" not in terminal.text()
