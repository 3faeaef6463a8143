"""Whole worlds that go wrong, an hour or more each, drawn from seeds.

Everything is as shipped: planes, controllers, engine, neighbours, provider. While things go wrong no
law is broken; afterwards all comes to where it should be, and to rest.
"""

import os
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.sim.weather import FAIR, TROUBLES
from tests.sim.whole.replay import play
from tests.sim.whole.world import NEMESES, QUIET, TROUBLE, UNREST, options
from tests.support.generated import depth

pytestmark = pytest.mark.timeout(900)  # of a world that hangs: the longest take a minute or two
FIRST = int(os.environ.get("SIM_FIRST", "0"))  # another range is another set of worlds
SEEDS = 60
LEDGER = tomllib.loads((Path(__file__).parents[1] / "ledger" / "whole.toml").read_text())
FOUND = [each["seed"] for each in LEDGER["found"]]
FEW = (0, 3, 5, 21, 38, 45, 59)  # in which there is something of everything, too
WORLDS = depth.either(FEW, tuple(dict.fromkeys((*range(FIRST, FIRST + SEEDS), *FOUND))))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("seed", WORLDS)
def test_a_world_comes_to_where_it_should_be(seed):
    """Whatever goes wrong, nothing forbidden happens, and in the end all is right and at rest."""
    assert play(seed).hours * 3600.0 >= TROUBLE + UNREST + QUIET


@pytest.mark.slow
def test_a_failed_world_says_how_to_see_it_again():
    """The seed, its options, the last lines of the trace, and the command are in the message."""
    with pytest.raises(AssertionError) as failure:
        play(3, prepare=lambda at: at.judge.accuse("it is made to fail"))
    message = str(failure.value)

    assert message.startswith("seed 3: it is made to fail\n  doubled=")
    assert "  weathers: " in message
    assert "VIOLATED" in message
    assert message.endswith(f"{depth.SETTING}make sim SEED=3")


@pytest.mark.parametrize(("seeds", "least"), [(range(SEEDS), 5), (FEW, 1)])
def test_the_worlds_have_something_of_everything(seeds, least):
    """Among the seeds there are calm worlds, worlds with one trouble, and all troubles there are."""
    drawn = [options(seed) for seed in seeds]
    seen = Counter(nemesis for world in drawn for nemesis in world.nemeses)
    seen.update(
        name
        for world in drawn
        for name in TROUBLES
        if any(getattr(weather, name) for weather in world.weathers)
    )

    assert {name for name, count in seen.items() if count >= least} == {*NEMESES, *TROUBLES}
    assert any(not world.nemeses for world in drawn)
    assert any(set(world.weathers) == {FAIR} or not world.nemeses for world in drawn)
    assert sum(world.doubled for world in drawn) >= least  # all parts twice, and none is elected
    assert sum(world.vandals for world in drawn) >= least
    assert sum(world.leaves for world in drawn) >= least


def test_every_find_has_a_test_of_its_own():
    """The file and the test that the ledger names exist."""
    for find in LEDGER["found"]:
        file, _, name = find["test"].partition("::")
        text = (Path(__file__).parents[3] / file).read_text()
        assert f"def {name.partition('[')[0]}(" in text


@pytest.mark.slow
def test_the_same_seed_is_the_same_world_in_every_process():
    """Traces and schedules are equal however an interpreter hashes."""
    seeds = depth.either(["3"], ["3", "10"])
    digests = [_digests(hashes, seeds) for hashes in ("1", "777")]

    assert len(digests[0].splitlines()) == len(seeds)
    assert digests == [digests[0]] * 2


def _digests(hashes, seeds):
    environment = {"PYTHONHASHSEED": hashes, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "tests.sim.whole.replay", "--digest", *seeds]
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return done.stdout
