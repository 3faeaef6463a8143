"""Never two leaders: whatever the network does, and however long a process stands still."""

import asyncio
from typing import Literal

from hypothesis import given, settings, strategies as st

from kubekit.runtime.election import ElectionSettings, Term
from tests.sim.weather import Weather
from tests.support.generated import depth
from tests.support.kubekit.election_builders import (
    SETTINGS,
    Candidate,
    ElectionWorld,
    run_story,
    until,
)

Deed = Literal["pause", "resume", "part", "heal", "crash", "leave", "restart"]

WEATHERS = st.builds(
    Weather,
    latencies=st.sampled_from([(0.001,), (0.01, 0.2), (0.1, 1.0, 2.4)]),
    slow=st.sampled_from([0.0, 0.1]),
    lost_request=st.sampled_from([0.0, 0.2, 0.5]),
    lost_response=st.sampled_from([0.0, 0.2, 0.5]),
    refused=st.sampled_from([0.0, 0.2]),
)
DEEDS = st.tuples(
    st.floats(0.01, 30.0),
    st.integers(0, 2),
    st.sampled_from(["pause", "resume", "part", "heal", "crash", "leave", "restart"]),
)
SHORT = ElectionSettings(name="leader", namespace="default", lease=4, renew_deadline=3.9, retry=0.5)


class Watched:
    """Candidates that are checked continuously. Each location has one process at a time."""

    def __init__(self, rivals: ElectionWorld, weathers: list[Weather]) -> None:
        self.rivals = rivals
        self.at_once = 0
        self._weathers = weathers
        self._places = [self._begun(place) for place in range(3)]

    async def look(self, seconds: float) -> None:
        """Count for so long how many terms hold."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while loop.time() < end:
            self._count()
            await asyncio.sleep(0.05)

    async def do(self, place: int, deed: Deed) -> None:
        """Let something happen to the process of a place."""
        there = self._places[place]
        match deed:
            case "pause" if not there.life.over:
                there.life.pause()
            case "resume" if there.life.paused:
                there.life.resume()
            case "part":
                there.link.part()
            case "heal":
                there.link.heal()
            case "crash":
                await there.crash()
            case "leave" if there.task is not None:
                there.task.cancel()
            case "restart":
                await there.crash()
                self._places[place] = self._begun(place)
            case _:
                return

    def _begun(self, place: int) -> Candidate:
        candidate = self.rivals.candidate(ahead=(place - 1) * 600.0)
        candidate.link.weather = self._weathers[place]

        async def work(term: Term) -> None:
            candidate.terms.append(term)
            self._count()
            await asyncio.Event().wait()

        candidate.start(work)
        return candidate

    def _count(self) -> None:
        self.at_once = max(self.at_once, len(self.rivals.holding()))


@settings(max_examples=depth.examples(30))
@given(
    seed=st.integers(0, 2**32),
    weathers=st.lists(WEATHERS, min_size=3, max_size=3),
    deeds=st.lists(DEEDS, max_size=10),
    timing=st.sampled_from([SETTINGS, SHORT]),
)
def test_no_two_terms_ever_hold_at_once(seed, weathers, deeds, timing):
    """Lost, late and doubled messages, pauses and crashes lose the lead, and never share it."""

    async def story(rivals: ElectionWorld) -> None:
        watched = Watched(rivals, weathers)
        await watched.look(10)
        for gap, place, deed in deeds:
            await watched.do(place, deed)
            await watched.look(gap)
        await watched.look(30)
        assert watched.at_once <= 1

    run_story(story, seed, timing)


@settings(max_examples=depth.examples(10))
@given(seed=st.integers(0, 2**32), weathers=st.lists(WEATHERS, min_size=3, max_size=3))
def test_numbers_rise_from_holder_to_holder(seed, weathers):
    """A later term of another process has a higher number, so an old writer can be recognized."""

    async def story(rivals: ElectionWorld) -> None:
        order: list[tuple[int, str]] = []
        for weather in weathers:
            candidate = rivals.candidate()
            candidate.link.weather = weather
            candidate.life.begin(served(candidate, order), "serving")
        await asyncio.sleep(300)
        assert [number for number, _ in order] == sorted(number for number, _ in order)
        assert len({number for number, _ in order}) == len(set(order))

    run_story(story, seed)


async def served(candidate: Candidate, order: list[tuple[int, str]]) -> None:
    """Lead for a while and release the lease, again and again."""

    async def work(term: Term) -> None:
        order.append((term.number, candidate.life.name))
        await asyncio.sleep(20)

    while True:
        await candidate.elector.lead(work)


def test_a_leader_that_stood_still_finds_its_term_over():
    """It holds nothing when it goes on, though nothing of it ran meanwhile."""

    async def story(rivals: ElectionWorld) -> None:
        leader, other = rivals.candidate(), rivals.candidate()
        leader.start()
        await until(lambda: leader.leads)
        other.start()
        await asyncio.sleep(7)
        leader.life.pause()
        await until(lambda: not leader.leads)
        assert not other.terms
        await until(lambda: other.leads)
        await asyncio.sleep(60)
        leader.life.resume()
        await asyncio.sleep(30)
        assert rivals.holding() == other.terms
        assert len(leader.terms) == 1

    run_story(story)


def test_a_process_leads_again_once_the_network_works():
    """Whatever happened before, a remaining candidate leads within a lease and two attempts."""

    async def story(rivals: ElectionWorld) -> None:
        for _ in range(3):
            candidate = rivals.candidate()
            candidate.link.weather = Weather(lost_request=0.4, lost_response=0.4, slow=0.2)
            candidate.start()
        await asyncio.sleep(300)
        for candidate in rivals.candidates:
            candidate.link.weather = Weather()
        await until(rivals.holding, limit=SETTINGS.lease + 4.4 * SETTINGS.retry + 5)

    run_story(story)
