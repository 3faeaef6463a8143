"""`compute rollout history`: the revisions of a workload, on a running world."""

import json

import pytest

from tests.support.compute.deployed_workloads import BETTER, GOOD, deployed

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def web(shop):
    """A Workload with two revisions that served; the second has a note, and other variables."""
    flags = ("--city=DFW,LHR", f"--image={GOOD}", "--env=TOKEN=first")
    deployed(shop, "web", *flags, revision=1)
    changes = (f"--image={BETTER}", "--env=TOKEN=second", "--env=LEVEL=debug")
    deployed(shop, "web", *changes, "--revision-note=release 2", revision=2)
    return shop


@pytest.mark.usefixtures("web")
def test_the_revisions_of_a_workload(shop_transcript):
    """The newest first, with the cities that run each of them now."""
    assert shop_transcript("rollout", "history", "web").code == 0
    assert shop_transcript("rollout", "history", "web", "-o", "wide").code == 0
    assert shop_transcript("rollout", "history", "web", "-o", "name").code == 0


@pytest.mark.usefixtures("web")
def test_one_revision_in_full(shop_transcript):
    """The spec, and the lines that differ. No value of a variable is shown."""
    first = shop_transcript("rollout", "history", "web", "--revision", "1")
    second = shop_transcript("rollout", "history", "web", "--revision=2")

    assert "first" not in first.stdout.replace("first ", "")
    assert "second" not in second.stdout


@pytest.mark.usefixtures("web")
def test_mistakes(shop_transcript):
    """An unknown revision lists the known ones."""
    assert shop_transcript("rollout", "history", "web", "--revision", "9").code == 7
    assert shop_transcript("rollout", "history", "web", "--revision", "0").code == 2
    assert shop_transcript("rollout", "history", "wbe").code == 7
    assert shop_transcript("rollout", "history").code == 2


def test_the_view_is_the_json(web):
    """Fields have the names of the stored history, with status, cities and note besides."""
    newest, oldest = json.loads(web("rollout", "history", "web", "-o", "json").stdout)
    one = json.loads(web("rollout", "history", "web", "--revision", "2", "-o", "json").stdout)

    assert (newest["rev"], newest["status"], newest["note"]) == (2, "active", "release 2")
    assert newest["cities"] == ["DFW", "LHR"]
    assert (oldest["image"], oldest["changes"]) == (GOOD, "initial deploy")
    assert one["before"] == 1
    assert "env TOKEN changed" in one["differences"]
    assert "second" not in json.dumps(one["revision"]["spec"])


def test_a_narrow_terminal(web):
    """Images and changes are cut, so that the cities can be seen."""
    with web.terminal("rollout", "history", "web", columns=80) as terminal:
        assert terminal.ended() == 0

    assert "STATUS" in terminal.text()
    assert "DFW,LHR" in terminal.text()
