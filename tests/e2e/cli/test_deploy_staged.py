"""`compute deploy` in stages, and a deploy that undoes itself, on a running world."""

import json
from dataclasses import replace

import pytest

from compute.api import annotations
from compute.api.compute import Workload
from tests.e2e.cli.conftest import Transcript
from tests.support.compute.deployed_workloads import (
    BETTER,
    BROKEN,
    GOOD,
    deployed,
    wait_for_revision,
)
from tests.support.compute.project_objects import in_plane

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ALL = "--city=DFW,LHR,SIN"


def paused_cities(shop, name: str) -> str:
    """The cities that are paused, as they are written."""
    found = in_plane(shop, lambda client: client.get(Workload, name, "default"))
    return found.metadata.annotations.get(annotations.PAUSED_CITIES, "")


def updated(shop, name: str) -> dict[str, int]:
    """How many instances of each city have the newest template."""
    view = json.loads(shop("status", name, "-o", "json").stdout)
    return {city["city"]: city["updated"] for city in view["cities"]}


def prose(transcript: Transcript, *arguments: str) -> int:
    """Run a command of which the transcript shows what is not a row: rows differ between runs."""
    done = transcript(*arguments)
    transcript.runs[-1] = replace(done, stdout="")
    return done.code


def test_one_city_first(shop, shop_transcript):
    """The others keep what they run; then one more takes the change, and an undo leaves no trace of it."""
    deployed(shop, "web", ALL, f"--image={GOOD}", revision=1)
    change = ("deploy", "web", f"--image={BETTER}", "--pause-after=1", "--city-order=sin")

    assert shop_transcript(*change, "--dry-run").code == 0
    assert prose(shop_transcript, *change) == 0
    wait_for_revision(shop, "web", 2)
    assert paused_cities(shop, "web") == "DFW,LHR"
    assert updated(shop, "web") == {"DFW": 0, "LHR": 0, "SIN": 1}
    assert shop_transcript("status", "web").code == 0
    assert shop_transcript("rollout", "status", "web", "--no-watch").code == 3
    assert shop_transcript(*change).code == 0
    assert prose(shop_transcript, "rollout", "resume", "web", "--city=DFW", "--wait") == 0
    assert updated(shop, "web") == {"DFW": 1, "LHR": 0, "SIN": 1}
    assert prose(shop_transcript, "rollout", "undo", "web") == 0
    assert shop_transcript("deploy", "web", f"--image={BETTER}", "--pause-after=3").code == 2
    assert shop_transcript("rollout", "resume", "web").code == 0
    shop("destroy", "web", "-y", "--wait")


def test_a_failed_stage_is_undone(shop, shop_transcript):
    """It ends as a failed deploy with its cause; all cities run the version before, and none is paused."""
    deployed(shop, "api", ALL, f"--image={GOOD}", revision=1)
    change = ("deploy", "api", f"--image={BROKEN}", "--pause-after", "1", "--auto-undo")

    assert prose(shop_transcript, *change) == 4
    assert not paused_cities(shop, "api")
    assert updated(shop, "api") == {"DFW": 1, "LHR": 1, "SIN": 1}
    wait_for_revision(shop, "api", 3, served=True)
    assert shop_transcript("rollout", "history", "api").code == 0
    shop("destroy", "api", "-y", "--wait")


def test_where_nothing_waits(shop, shop_transcript):
    """What does not wait says why, and what could not wait is refused before anything is written."""
    deployed(shop, "job", "--city=DFW,LHR", f"--image={GOOD}", revision=1)
    first = ("deploy", "job", "--pause-after", "1")
    new = ("deploy", "fresh", "--image", GOOD, "--city", "DFW,LHR", "--pause-after", "1")

    assert shop_transcript(*new).code == 2
    assert shop_transcript(*first, "--image", BETTER, "--city-order", "LHX").code == 2
    assert shop_transcript(*first, "--image", BETTER, ALL).code == 2
    assert shop_transcript(*first, "--image", GOOD).code == 0
    assert shop_transcript("diff", "job", "--pause-after", "1", "--min", "2").code == 0
    assert shop_transcript("diff", "job", "--pause-after", "2", "--image", BETTER).code == 0
    assert shop("rollout", "pause", "job").code == 0
    assert shop_transcript(*first, "--image", BETTER).code == 2
    assert shop("rollout", "resume", "job").code == 0
    assert shop_transcript(*first, "--image", BETTER, "--detach").code == 0
    assert paused_cities(shop, "job") == "LHR"
    shop("destroy", "job", "-y", "--wait")
