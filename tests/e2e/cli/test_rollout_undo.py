"""`compute rollout undo` and `compute rollback`: back to an earlier revision, on a running world."""

import json

import pytest

from tests.support.compute.deployed_workloads import (
    BETTER,
    BROKEN,
    GOOD,
    deployed,
    wait_for_revision,
)

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_a_broken_image_is_healed(shop, shop_transcript):
    """The rollout fails with a cause and the command that undoes it; that command ends with all well."""
    deployed(shop, "broken", "--city=DFW,LHR", f"--image={GOOD}", revision=1)
    failed = shop("deploy", "broken", f"--image={BROKEN}", "--yes")
    assert failed.code == 4
    assert "Next:  compute rollout undo broken" in failed.stderr

    assert shop_transcript("rollout", "undo", "broken", "--dry-run").code == 0
    done = shop("rollout", "undo", "broken")

    assert done.code == 0
    assert done.stdout.startswith("workload/broken undone\n")
    assert "Rollout complete in " in done.stderr
    wait_for_revision(shop, "broken", 3)
    assert shop_transcript("rollout", "history", "broken").code == 0
    assert shop_transcript("rollback", "broken", "--to", "3").code == 1


def test_one_city_goes_back(shop, shop_transcript):
    """It stays there until the next change, and comes back to the others by the number of theirs."""
    deployed(shop, "city", "--city=DFW,LHR", f"--image={GOOD}", revision=1)
    deployed(shop, "city", f"--image={BETTER}", revision=2)

    assert shop_transcript("rollout", "undo", "city", "--city", "LHR", "--no-wait").code == 0
    assert shop("rollout", "status", "city").code == 0
    assert shop_transcript("status", "city").code == 0
    assert shop_transcript("rollout", "history", "city").code == 0
    again = ("rollout", "undo", "city", "--city=DFW,LHR", "--to-revision=1", "--dry-run")
    assert shop_transcript(*again).code == 0
    back = shop_transcript("rollback", "city", "--location=LHR", "--to=2", "-o", "name")
    assert back.code == 0
    assert "pinned" not in shop("status", "city").stdout


def test_all_of_the_spec_goes_back(shop, shop_transcript):
    """The template alone is the default; with --all the scale goes back too."""
    deployed(shop, "whole", "--city=SIN", f"--image={GOOD}", revision=1)
    deployed(shop, "whole", "--min=2", f"--image={BETTER}", revision=2)

    assert shop_transcript("rollout", "undo", "whole", "--dry-run").code == 0
    assert shop_transcript("rollout", "undo", "whole", "--all", "--detach").code == 0
    wait_for_revision(shop, "whole", 3)
    plan = json.loads(shop("rollout", "undo", "whole", "--all", "--dry-run", "-o", "json").stdout)
    assert (plan["steps"][0]["revision"], plan["written"]) == (2, False)


def test_mistakes(shop, shop_transcript):
    """Each says why nothing was undone, and what shows more."""
    deployed(shop, "single", "--city=SIN", f"--image={GOOD}", revision=1)

    assert shop_transcript("rollout", "undo", "single").code == 1
    assert shop_transcript("rollout", "undo", "single", "--to-revision", "7").code == 7
    assert shop_transcript("rollout", "undo", "single", "--city", "IAD").code == 2
    assert shop_transcript("rollout", "undo", "single", "--city", "SIN", "--all").code == 2
    assert shop_transcript("rollback", "singel").code == 7


def test_a_person_is_asked(shop):
    """The difference is shown first; no leaves all as it is, and yes follows the rollout."""
    deployed(shop, "asked", "--city=SIN", f"--image={GOOD}", revision=1)
    deployed(shop, "asked", f"--image={BETTER}", revision=2)

    with shop.terminal("rollout", "undo", "asked") as terminal:
        screen = terminal.until(r"^Undo\? \[Y/n\]:")
        terminal.type("n\n")
        assert terminal.ended() == 0
    assert "Undo asked to revision 1" in screen
    assert f"  image: {BETTER} → {GOOD}" in screen
    assert terminal.text().endswith("Aborted: nothing was changed.")

    with shop.terminal("rollout", "undo", "asked") as terminal:
        terminal.until(r"^Undo\? \[Y/n\]:")
        terminal.type("\x03")
        assert terminal.ended() == 130
    assert "undone" not in terminal.text()

    with shop.terminal("rollout", "undo", "asked") as terminal:
        terminal.until(r"^Undo\? \[Y/n\]:")
        terminal.type("\n")
        assert terminal.ended() == 0
    assert "workload/asked undone" in terminal.text()
    assert "Rollout of asked: 1 of 1 done" in terminal.text()


def test_a_change_while_a_person_thinks(shop):
    """It would be another undo than the one that was shown, so nothing is written."""
    deployed(shop, "raced", "--city=SIN", f"--image={GOOD}", revision=1)
    deployed(shop, "raced", f"--image={BETTER}", revision=2)

    with shop.terminal("rollout", "undo", "raced", columns=120) as terminal:
        terminal.until(r"^Undo\? \[Y/n\]:")
        assert shop("deploy", "raced", "--image=registry.test/web:3", "--yes").code == 0
        terminal.type("y\n")
        assert terminal.ended() == 8
    assert "workload/raced was changed by another user of this command" in terminal.text()
    assert "registry.test/web:3" in shop("status", "raced").stdout
