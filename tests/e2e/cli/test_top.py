"""`compute top` on a real terminal, without a terminal, and without textual."""

import pytest

from tests.support.compute.cli_runner import normal
from tests.support.compute.deployed_workloads import GOOD, deployed, wait_for_revision

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
