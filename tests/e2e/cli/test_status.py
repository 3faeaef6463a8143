"""`compute status` and `compute rollout status`: which city is stuck, why, and what to type next."""

import json
import signal

import pytest

from compute.api.compute import Instance
from tests.support.compute.cli_world import has_reason, make_workload, settle

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.usefixtures("fleet")]

BROKEN = "registry.example.test/team/does-not-exist:2"


@pytest.fixture(scope="module")
def fleet(shop):
    """One Workload that serves in three cities, and one whose image does not exist."""
    project = shop.variables["COMPUTE_PROJECT"]
    make_workload(shop.data, project, "web", "DFW", "LHR", "SIN")
    make_workload(shop.data, project, "broken", "LHR", image=BROKEN)
    assert shop("rollout", "status", "web").code == 0
    settle(shop.data, project, Instance, has_reason("ImageUnavailable"))
    assert shop("rollout", "status", "broken").code == 4
    return shop


def test_all_workloads_are_listed_with_the_worst_first(shop_transcript):
    listed = shop_transcript("status")
    names = shop_transcript("status", "-o", "name")

    assert listed.code == 0
    assert names.stdout.split() == ["workload/broken", "workload/web"]


def test_one_workload_that_serves(shop_transcript):
    assert shop_transcript("status", "web").code == 0


def test_one_workload_that_cannot_run(shop_transcript):
    """The city, the cause, since when, and the commands that help."""
    done = shop_transcript("status", "broken")

    assert done.code == 0
    assert "LHR: Run compute deploy broken --image IMAGE" in done.stdout


def test_a_workload_that_does_not_exist(shop_transcript):
    assert shop_transcript("status", "wbe").code == 7
    assert shop_transcript("rollout", "status", "wbe", "-o", "json").code == 7


def test_the_view_is_the_json(fleet):
    view = json.loads(fleet("status", "broken", "-o", "json").stdout)

    assert (view["name"], view["health"]) == ("broken", "Unavailable")
    (city,) = view["cities"]
    assert (city["city"], city["reason"]) == ("LHR", "ImageUnavailable")
    assert city["next"] == "compute deploy broken --image IMAGE"


def test_a_rollout_that_is_done_ends_at_once(shop_transcript):
    assert shop_transcript("rollout", "web").code == 0
    assert shop_transcript("rollout", "status", "web", "--city", "LHR,SIN").code == 0
    assert shop_transcript("rollout", "status", "web", "--no-watch").code == 0
    assert shop_transcript("rollout", "status", "web", "--revision", "1").code == 0


def test_a_rollout_that_cannot_be_done_ends_with_the_cause(shop_transcript):
    """Once an image could not be pulled for ten seconds, waiting does not help."""
    followed = shop_transcript("rollout", "status", "broken")
    once = shop_transcript("rollout", "status", "broken", "--no-watch")

    assert (followed.code, once.code) == (4, 4)


def test_a_failure_is_json_for_scripts(fleet):
    done = fleet("rollout", "status", "broken", "-o", "jsonl")
    last = json.loads(done.stdout.splitlines()[-1])
    error = json.loads(done.stderr)["error"]

    assert done.code == 4
    assert last["verdict"] == "failed"
    assert (error["code"], error["city"], error["reason"]) == (4, "LHR", "ImageUnavailable")
    assert error["next"] == "compute deploy broken --image IMAGE"


def test_mistakes(shop_transcript):
    assert shop_transcript("rollout", "status", "web", "--city", "LRH").code == 2
    assert shop_transcript("rollout", "status", "web", "--revision", "7").code == 8
    assert shop_transcript("rollout", "statsu", "web").code == 2
    assert shop_transcript("rollout").code == 2


def test_on_a_terminal_the_table_is_drawn_over_itself(fleet):
    with fleet.terminal("rollout", "status", "broken", columns=120) as terminal:
        assert terminal.ended() == 4
        screen = terminal.text()

    assert "\x1b[2K" in terminal.raw.decode()  # lines are replaced
    assert "[----------]" in screen
    assert "Error: the rollout of broken failed in LHR" in screen


def test_ctrl_c_leaves_the_rollout_alone(compute, name):
    """On a terminal that is no failure."""
    make_workload(compute.data, "demo", name, "LHR", image="registry.example.test/team/crash:1")
    with compute.terminal("rollout", "status", name, "--timeout", "0s") as terminal:
        terminal.until(name)
        terminal.type("\x03")
        assert terminal.ended() == 0
        screen = terminal.text()

    assert f"The rollout goes on. Look again with: compute rollout status {name}" in screen


def test_a_status_that_is_watched_is_drawn_over_itself(fleet):
    """Until Ctrl-C, which is how a person ends it."""
    with fleet.terminal("status", "web", "-w", columns=120) as terminal:
        terminal.until(r"SIN +1/1")
        terminal.type("\x03")
        assert terminal.ended() == 0

    assert "\x1b[2K" in terminal.raw.decode()


def test_a_status_that_is_watched_is_printed_again_after_a_change(compute, name):
    """Without a terminal; the end of the workload is the end of it."""
    make_workload(compute.data, "demo", name, "LHR")
    assert compute("wait", name).code == 0
    one, all_of_them = (
        compute.start("status", *words) for words in ((name, "-w"), ("-w", "-o", "jsonl"))
    )
    assert one.stdout is not None
    assert all_of_them.stdout is not None
    try:
        lines = map(json.loads, all_of_them.stdout)
        next(line for line in lines if line["workload"]["name"] == name)
        while one.stdout.readline().split()[:1] != ["LHR"]:
            pass
        assert compute("destroy", name, "-y").code == 0
        changes: list[str] = []
        while changes[-1:] != ["gone"]:
            line = next(lines)
            changes += [line["change"]] if line["workload"]["name"] == name else []
        _, error = one.communicate(timeout=60)
        all_of_them.send_signal(signal.SIGINT)
        all_of_them.communicate(timeout=60)
    finally:
        one.kill()
        all_of_them.kill()

    assert f"Error: workload {name} was deleted\nNext:  compute workloads" in error
    assert (one.returncode, all_of_them.returncode) == (7, 130)


def test_only_lines_can_be_watched(shop_transcript):
    assert shop_transcript("status", "web", "-w", "-o", "json").code == 2


def test_a_rollout_in_lines_has_its_revision(fleet):
    """From the first line on."""
    done = fleet("rollout", "status", "web", "-o", "jsonl")
    assert [json.loads(line)["revision"] for line in done.stdout.splitlines()] == [1]
