"""The runtime in worlds with random faults, from seeds: three small controllers on real planes.

After the faults the actual state equals the desired one, every deletion is finished, and nothing is
written any more. At no time is there a second child for one key, or a mirror without an original. The
same worlds must find planted mistakes.
"""

import os
import subprocess
import sys
from collections import Counter

import pytest

from tests.sim.mutants import MUTANTS
from tests.sim.replay import play
from tests.sim.weather import TROUBLES
from tests.sim.world import NEMESES, options
from tests.support.generated import depth

FIRST = int(os.environ.get("SIM_FIRST", "0"))  # another range is another set of worlds
SEEDS = 240
PLAYED = depth.either(60, SEEDS)
AT_ONCE = 10
HASHES = depth.either(("1", "777"), ("1", "777", "random"))
KNOWN = {"deletes by name": 20, "forgets children": 24, "misses mirrors": 24}  # where it shows
TRIES = 200  # worlds within which a planted mistake must show


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FIRST, FIRST + PLAYED, AT_ONCE))
def test_worlds_come_to_where_they_should_be(first):
    """Whatever goes wrong, nothing forbidden happens, and in the end all is right and at rest."""
    for seed in range(first, first + AT_ONCE):
        play(seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_mistake_is_found(name):
    """Each mistake that people make with controllers shows within two hundred worlds."""
    seeds = dict.fromkeys((KNOWN.get(name, 0), *range(TRIES)))

    assert any(_fails(seed, name) for seed in seeds)


def _fails(seed, name):
    try:
        play(seed, MUTANTS[name])
    except AssertionError:
        return True
    return False


def test_a_failed_world_says_how_to_see_it_again():
    """The seed, its options, the last lines of the trace, and the command are in the message."""
    with pytest.raises(AssertionError) as failure:
        play(0, MUTANTS["releases first"])
    report = str(failure.value)

    assert report.startswith("seed 0: ann was let go of while its mirror is there\n  projects=")
    assert "  weather: " in report
    assert "VIOLATED" in report
    assert report.endswith("make sim OF=runtime SEED=0")


@pytest.mark.parametrize(("seeds", "least"), [(SEEDS, 10), (PLAYED, 3)])
def test_the_worlds_have_something_of_everything(seeds, least):
    """Among the seeds there are calm worlds, worlds with one trouble, and all troubles there are."""
    drawn = [options(seed) for seed in range(seeds)]
    seen = Counter(nemesis for world in drawn for nemesis in world.nemeses)
    seen.update(
        name
        for world in drawn
        for name in TROUBLES
        if any(getattr(weather, name) for weather in world.weathers)
    )

    assert {*NEMESES, *TROUBLES} == {name for name, count in seen.items() if count >= least}
    assert sum(not world.nemeses for world in drawn) >= least
    assert sum(len(world.nemeses) == 1 for world in drawn) >= least
    assert sum(world.processes == 2 and not world.elected for world in drawn) >= least
    assert sum(world.elected for world in drawn) >= least


@pytest.mark.slow
def test_the_same_seed_is_the_same_run_in_every_process():
    """Traces and schedules of five worlds are equal however an interpreter hashes."""
    digests = [_digests(hashes) for hashes in HASHES]

    assert len(digests[0].splitlines()) == 5
    assert digests == [digests[0]] * len(HASHES)


def _digests(hashes):
    environment = {"PYTHONHASHSEED": hashes, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "tests.sim.replay", "--digest", "0", "4", "11", "14", "34"]
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return done.stdout
