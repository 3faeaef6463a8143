"""`compute top` on a real terminal, without a terminal, and without textual."""

import json
from urllib.parse import urlsplit

import pytest

from tests.support.compute.cli_runner import CommandLine, normal
from tests.support.compute.deployed_workloads import BETTER, GOOD, deployed, wait_for_revision

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture
def web(shop, name):
    """A workload that runs in two cities."""
    deployed(shop, name, "--image", GOOD, "--city", "DFW,LHR", revision=1)
    yield name
    assert shop("destroy", name, "--yes", "--wait").code == 0


def test_a_person_restarts_a_workload_and_quits(shop, web):
    """The restart is a real one, and the terminal is left as it was."""
    with shop.terminal("top", columns=80, lines=24) as terminal:
        terminal.until(rf"● {web} +2/2")
        terminal.until(r"● dfw-0 +Available")
        screen = terminal.until("q Quit")
        terminal.type("r")
        terminal.until(f"Restart {web} in DFW, LHR")
        terminal.type("y")
        terminal.until(f"{web} restarts in DFW, LHR")
        wait_for_revision(shop, web, 2)
        terminal.type("q")
        assert terminal.ended() == 0

    for part in ("Workloads", "Cities", f"Instances of {web}", "live", "q Quit"):
        assert part in screen
    assert b"\x1b[?1049l" in terminal.raw[-200:]  # it leaves the alternate screen
    assert b"Traceback" not in terminal.raw


def test_every_key_makes_the_change_of_its_command(shop, web):
    """Undo after its diff, scale, pause and resume, and events: each is reported, and seen on the server."""
    deployed(shop, web, "--image", BETTER, revision=2)
    with shop.terminal("top", web, columns=120, lines=40) as terminal:
        terminal.until(f"Instances of {web}")
        terminal.type("u")
        terminal.until(f"image: {GOOD} → {BETTER}|image: {BETTER} → {GOOD}")
        terminal.type("\r")
        terminal.until(f"{web} goes back to revision 1")
        wait_for_revision(shop, web, 3, served=True)
        terminal.type("s")
        terminal.until(f"How many instances of {web} in each city")
        terminal.type("2\r")  # over the present number, which is selected
        terminal.until(f"● {web} +4/4")
        terminal.type("p")
        terminal.until(f"{web} is paused")
        terminal.type("p")
        terminal.until(f"{web} is resumed")
        terminal.type("e")
        terminal.until(f"Events of {web}")
        terminal.until("RolloutFinished")
        terminal.type("q")
        terminal.until("^╭─ Workloads")
        terminal.type("q")
        assert terminal.ended() == 0

    assert GOOD in shop("status", web).stdout


def test_a_server_that_goes_away_and_comes_back(tmp_path):
    """The last state stays, with its age; an action is an error; and all is live again by itself."""
    compute = CommandLine(tmp_path, tmp_path / "world")
    assert compute("up", "--detach", "--port=0", "--cities=DFW").code == 0
    port = urlsplit(json.loads((compute.data / "up.json").read_text())["url"]).port
    assert compute("deploy", "web", "--image", GOOD, "--city", "DFW", "--yes").code == 0
    try:
        with compute.terminal("top", columns=100, lines=30) as terminal:
            terminal.until(r"● dfw-0 +Available")
            compute("down")
            terminal.until(r"No contact with the server since .*: what is shown is \d+[sm] old")
            assert "● dfw-0" in terminal.text()
            terminal.type("p")
            terminal.until("Nothing was changed")
            assert compute("up", "--detach", f"--port={port}", "--cities=DFW").code == 0
            terminal.until(r"1 workload: 1 available  live\n╭─ Workloads")  # and no red line
            terminal.type("q")
            assert terminal.ended() == 0
    finally:
        compute("down")

    assert b"Traceback" not in terminal.raw


def test_the_named_workload_is_chosen_and_described(shop, web):
    with shop.terminal("top", web, columns=120, lines=40) as terminal:
        terminal.until(f"Instances of {web}")
        terminal.type("d")
        screen = terminal.until("Escape closes")
        terminal.type("q")
        terminal.until(f"Instances of {web}")
        terminal.type("\x03")
        assert terminal.ended() == 0

    assert f"Workload   {web} in project top, namespace default" in screen


def test_without_a_terminal_it_is_one_snapshot(shop, web):
    """The same as `compute status`, with and without a name, and with the target of the flags."""
    once, listed = shop("top", web, "--project=top"), shop("top")

    assert (once.code, normal(once.stdout)) == (0, normal(shop("status", web).stdout))
    assert (listed.code, normal(listed.stdout)) == (0, normal(shop("status").stdout))
    assert shop("top", "no-such-workload").code == 7


def test_without_textual_it_says_how_to_get_it(shop, web, tmp_path):
    """A package of that name that cannot be imported stands for one that is not installed."""
    broken = tmp_path / "textual"
    broken.mkdir()
    (broken / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'textual'\", name='textual')\n"
    )
    without = shop.of(PYTHONPATH=str(tmp_path))
    with without.terminal("top", columns=100) as terminal:
        screen = terminal.until(r"datum-compute\[top\]'$")
        assert terminal.ended() == 0

    assert f"\n{web} " in screen
    assert screen.endswith(
        "\nThis is one snapshot. The live dashboard needs textual; get it with:\n"
        "  pip install 'datum-compute[top]'"
    )


def test_a_name_that_does_not_exist_never_opens_the_dashboard(shop):
    with shop.terminal("top", "no-such-workload", columns=100) as terminal:
        screen = terminal.until("^Next:  compute workloads$")
        assert terminal.ended() == 7

    assert "there is no workload no-such-workload in project top" in screen
    assert b"\x1b[?1049h" not in terminal.raw
