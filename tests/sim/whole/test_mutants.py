"""Whole worlds find the mistakes that are planted in them: else that they find none says nothing.

Each mistake shows in a story of a second or two. A deep run looks for it in worlds drawn from seeds, too.
"""

import inspect
import operator
import os
from contextlib import suppress

import pytest

from tests.sim.whole import stories_of_mistakes as stories
from tests.sim.whole.judge import Violation
from tests.sim.whole.mutants import MUTANTS, planted
from tests.sim.whole.replay import play
from tests.support.generated import depth

# Worlds within which a planted mistake must show. Two hundred would do; but one that shows as seldom
# as that would be looked for for an hour each time.
TRIES = int(os.environ.get("SIM_TRIES", "30"))
USUAL = 1  # the world in which most of them show: played first, to save time
KNOWN = {
    "rolls while paused": 26,
    "rolls two at once": 14,
    "gives a claim back at each roll": 6,
    "counts what is out of date": 0,
    "copies generations": 2,
    "is Ready when programmed": 2,
    "adds the time": 2,
    "leaves the copy in the cell": 2,
    "is deaf to deletions": 2,
}
STORIES = {  # in which a mistake shows; where none is named, that of a life
    "takes no answer for a grant": stories.a_small_budget,
    "grants beyond the budget": stories.a_small_budget,
    "rolls two at once": stories.a_parallel_roll,
    "rolls while paused": stories.a_pause,
    "copies generations": stories.changes_of_a_cut_cell,
    "stops what the hub cannot see": stories.changes_of_a_cut_cell,
    "removes the policy too": stories.two_in_a_city,
    "shares a namespace": stories.two_projects,
    "does not try again": stories.a_move_in_a_cut_cell,
}
IN_WORLDS = {"adds the time"}  # in a story no time passes between a write and the next pass


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MUTANTS.keys() - IN_WORLDS))
def test_a_planted_mistake_shows_in_a_story(name):
    """Each typical mistake breaks its law in a story of its own."""
    with planted(name) as misfits:
        violation = stories.verdict(STORIES.get(name, stories.a_life))

    assert not misfits
    assert MUTANTS[name].explains(Violation(violation)), violation


@pytest.mark.slow
@pytest.mark.parametrize("story", stories.ALL)
def test_a_story_without_a_mistake_breaks_no_law(story):
    """What a story shows is the mistake, and not the story."""
    assert stories.verdict(story) == ""


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", depth.either(sorted(IN_WORLDS), list(MUTANTS)))
def test_a_planted_mistake_is_found_in_worlds(name):
    """Each typical mistake breaks its law within so many worlds."""
    seeds = dict.fromkeys((KNOWN.get(name, USUAL), *range(TRIES)))

    assert any(_is_found(name, seed) for seed in seeds)


def test_there_are_enough_mistakes():
    """At least twelve mistakes are planted, and where one shows is said of no other."""
    assert len(MUTANTS) >= 12
    assert KNOWN.keys() | STORIES.keys() | IN_WORLDS <= MUTANTS.keys()
    assert all(seed in range(TRIES) for seed in KNOWN.values())


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_there_only_while_it_is_planted(name):
    """What a mistake takes the place of is back when the world ends, however it ends."""
    before = _standing(name)
    with suppress(Violation), planted(name):
        meanwhile = _standing(name)
        raise Violation("the end of a world")

    assert all(map(operator.is_not, meanwhile, before))
    assert all(map(operator.is_, _standing(name), before))


def _is_found(name, seed):
    """Whether the law of a mistake is broken; a mutant that fails by itself is no find."""
    verdict = None
    with planted(name) as misfits:
        try:
            play(seed)
        except AssertionError as error:
            verdict = error.__cause__
    assert not misfits
    return isinstance(verdict, Violation) and MUTANTS[name].explains(verdict)


def _standing(name):
    return [inspect.getattr_static(graft.place, graft.name) for graft in MUTANTS[name].grafts]
