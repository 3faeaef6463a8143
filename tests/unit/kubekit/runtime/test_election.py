"""Leader election: one at a time leads, and hands over well."""

import asyncio

import pytest

from kubekit.runtime.election import ElectionSettings, Term
from tests.sim.weather import FAIR, Weather
from tests.support.kubekit.election_builders import SETTINGS, ElectionWorld, run_story, until

KEPT = ElectionSettings(name="leader", namespace="default", release=False)


def test_one_candidate_leads_at_once():
    """A single candidate does not wait, and the first term has the number 0."""

    async def story(rivals: ElectionWorld) -> None:
        alone = rivals.candidate()
        alone.start()
        assert await until(lambda: alone.leads) < 0.1
        assert alone.terms[0].number == 0
        assert alone.elector.term is alone.terms[0]

    run_story(story)


def test_of_three_candidates_one_leads_for_as_long_as_it_lives():
    """The lease is renewed, so no other candidate gets it."""

    async def story(rivals: ElectionWorld) -> None:
        for _ in range(3):
            rivals.candidate().start()
        await asyncio.sleep(300)
        assert len(rivals.holding()) == 1
        assert sum(len(each.terms) for each in rivals.candidates) == 1

    run_story(story)


@pytest.mark.parametrize("ahead", [0.0, 600.0, -600.0])
def test_another_leads_once_the_lease_of_a_dead_leader_ran_out(ahead: float):
    """What counts is how long the candidate saw no renewal, whatever the clocks say."""

    async def story(rivals: ElectionWorld) -> None:
        leader, other = rivals.candidate(), rivals.candidate(ahead)
        leader.start()
        await until(lambda: leader.leads)
        other.start()
        await asyncio.sleep(20)
        await leader.crash()
        taken = await until(lambda: other.leads)
        assert SETTINGS.lease - SETTINGS.retry <= taken <= SETTINGS.lease + 2.2 * SETTINGS.retry
        assert other.terms[0].number == leader.terms[0].number + 1

    run_story(story)


def test_a_candidate_that_comes_late_waits_for_a_whole_lease():
    """It cannot know when the dead leader renewed last."""

    async def story(rivals: ElectionWorld) -> None:
        leader, late = rivals.candidate(), rivals.candidate()
        leader.start()
        await until(lambda: leader.leads)
        await leader.crash()
        await asyncio.sleep(600)
        late.start()
        assert await until(lambda: late.leads) >= SETTINGS.lease

    run_story(story)


def test_a_leader_that_leaves_hands_over_within_a_retry():
    """The released lease is free for any candidate at once."""

    async def story(rivals: ElectionWorld) -> None:
        leader, other = rivals.candidate(), rivals.candidate()
        leader.start()
        await until(lambda: leader.leads)
        other.start()
        await leader.leave()
        assert not leader.leads
        assert await until(lambda: other.leads) <= 2.2 * SETTINGS.retry + 0.1

    run_story(story)


def test_the_lease_is_renewed_until_the_work_has_come_to_its_end():
    """A leader that finishes what it has in hand still leads, and releases only then."""

    async def story(rivals: ElectionWorld) -> None:
        leader, other = rivals.candidate(), rivals.candidate()
        held: list[bool] = []

        async def work(term: Term) -> None:
            leader.terms.append(term)
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(40)
                held.append(term.holds())

        leader.start(work)
        await until(lambda: leader.leads)
        other.start()
        await leader.leave()
        assert held == [True]
        assert not other.terms

    run_story(story)


def test_a_leader_that_may_not_release_leaves_the_lease_to_run_out():
    """Without release the next one waits as for a dead leader."""

    async def story(rivals: ElectionWorld) -> None:
        leader, other = rivals.candidate(), rivals.candidate()
        leader.start()
        await until(lambda: leader.leads)
        other.start()
        await leader.leave()
        assert (await rivals.lease()).spec.holder_identity == leader.elector.identity
        assert await until(lambda: other.leads) >= SETTINGS.lease - SETTINGS.retry

    run_story(story, settings=KEPT)


def test_work_that_ends_by_itself_ends_leading():
    """The candidate does not compete again, and the lease is free."""

    async def story(rivals: ElectionWorld) -> None:
        leader = rivals.candidate()

        async def work(_: Term) -> None:
            await asyncio.sleep(5)

        await leader.start(work)
        assert (await rivals.lease()).spec.holder_identity == ""
        assert leader.elector.term is None

    run_story(story)


def test_what_the_work_raises_is_raised_after_the_release():
    """The failure of the work is raised to the caller, and the next candidate need not wait."""

    async def story(rivals: ElectionWorld) -> None:
        leader = rivals.candidate()

        async def work(_: Term) -> None:
            raise RuntimeError("broken")

        with pytest.raises(RuntimeError, match="broken"):
            await leader.start(work)
        assert (await rivals.lease()).spec.holder_identity == ""

    run_story(story)


def test_a_leader_without_a_server_steps_down_at_the_deadline():
    """The term ends before the work is cancelled."""

    async def story(rivals: ElectionWorld) -> None:
        leader = rivals.candidate()
        ends: list[tuple[float, bool]] = []

        async def work(term: Term) -> None:
            leader.terms.append(term)
            try:
                await asyncio.Event().wait()
            finally:
                ends.append((asyncio.get_running_loop().time(), term.holds()))

        leader.start(work)
        await until(lambda: leader.leads)
        await asyncio.sleep(10)
        leader.link.part()
        parted = asyncio.get_running_loop().time()
        await until(lambda: ends)
        assert ends[0][0] <= parted + SETTINGS.renew_deadline
        assert not ends[0][1]
        leader.link.heal()
        await until(lambda: leader.leads)
        assert len(leader.terms) == 2

    run_story(story)


def test_a_work_that_does_not_end_is_a_problem():
    """A process that lost its lease and goes on must be restarted, so its health says so."""

    async def story(rivals: ElectionWorld) -> None:
        leader = rivals.candidate()
        over = asyncio.Event()

        async def work(term: Term) -> None:
            leader.terms.append(term)
            try:
                await asyncio.Event().wait()
            finally:
                await over.wait()

        leader.start(work)
        await until(lambda: leader.leads)
        leader.link.part()
        await until(lambda: not leader.leads)
        assert leader.elector.problems() == []
        await until(leader.elector.problems)
        assert leader.elector.problems() == ["the lease leader was lost and the work has not ended"]
        over.set()
        await until(lambda: leader.elector.problems() == [])

    run_story(story)


def test_a_lease_whose_write_was_not_answered_is_recognised():
    """A candidate that holds the lease without knowing it leads at the next attempt."""

    async def story(rivals: ElectionWorld) -> None:
        lucky = rivals.candidate()
        lucky.link.weather = Weather(lost_response=1.0)
        lucky.start()
        await asyncio.sleep(6)
        assert not lucky.terms
        lucky.link.weather = FAIR
        await until(lambda: lucky.leads)
        spec = (await rivals.lease()).spec
        assert (spec.holder_identity, spec.lease_transitions) == (lucky.elector.identity, 0)

    run_story(story)


def test_a_candidate_that_leaves_lets_go_of_what_it_may_have_got():
    """It was cancelled while its write was on its way."""

    async def story(rivals: ElectionWorld) -> None:
        leaving = rivals.candidate()
        leaving.link.weather = Weather(latencies=(1.0,))
        leaving.start()
        before = rivals.revision
        await until(lambda: rivals.revision > before)
        await leaving.leave()
        assert (await rivals.lease()).spec.holder_identity == ""
        assert not leaving.terms

    run_story(story)


def test_a_term_is_counted_from_before_its_lease_was_asked_for():
    """The answer may have been long on its way, and others may have seen the write before us."""

    async def story(rivals: ElectionWorld) -> None:
        leader = rivals.candidate()
        leader.link.weather = Weather(latencies=(1.0,))
        leader.start()
        await until(lambda: leader.terms)
        now = asyncio.get_running_loop().time()
        assert leader.terms[0].until <= now + SETTINGS.renew_deadline - 1.0
        await asyncio.sleep(60)
        now = asyncio.get_running_loop().time()
        assert leader.leads
        assert leader.terms[0].until <= now + SETTINGS.renew_deadline - 1.0

    run_story(story)


def test_a_server_that_refuses_is_logged_once(caplog):
    """The same trouble at each attempt is one line; another trouble is another."""

    async def story(rivals: ElectionWorld) -> None:
        waiting = rivals.candidate()
        waiting.link.weather = Weather(lost_request=1.0)
        waiting.start()
        await asyncio.sleep(120)

    run_story(story)
    assert [record.message for record in caplog.records] == ["lease request failed"]


def test_a_term_that_was_given_up_stays_so():
    """A renewal that is answered late revives nothing."""
    term = Term(1, 10.0, lambda: 5.0)
    term.extend(20.0)
    assert (term.holds(), term.until) == (True, 20.0)
    term.end()
    term.extend(30.0)
    assert (term.holds(), term.until) == (False, 5.0)


@pytest.mark.parametrize(
    "seconds",
    [
        {"lease": 10},
        {"renew_deadline": 15.0},
        {"retry": 9.0},
        {"retry": 0.0},
    ],
    ids=["lease as short as the deadline", "deadline as long as the lease", "retry", "no retry"],
)
def test_settings_that_could_not_hold_a_lease_are_refused(seconds):
    """The lease outlives the deadline, and the deadline leaves room for a second attempt."""
    with pytest.raises(ValueError, match="must be longer"):
        ElectionSettings(name="leader", namespace="default", **seconds)
