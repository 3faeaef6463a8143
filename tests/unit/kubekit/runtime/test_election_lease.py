"""What is in the Lease, and what becomes of it when others write to it."""

import asyncio

from msgspec.structs import replace

from kubekit.api.kinds.coordination import Lease, LeaseSpec
from kubekit.api.meta import ObjectMeta, with_spec
from kubekit.api.times import MicroTime
from tests.support.kubekit.election_builders import SETTINGS, ElectionWorld, run_story, until


def test_a_deleted_lease_is_made_again_by_its_holder():
    """The term keeps its number; candidates that saw the claim do not take it meanwhile."""

    async def story(rivals: ElectionWorld) -> None:
        leader, other = rivals.candidate(), rivals.candidate()
        leader.start()
        await until(lambda: leader.leads)
        other.start()
        await asyncio.sleep(30)
        await rivals.client.delete(await rivals.lease())
        await asyncio.sleep(30)
        assert leader.leads
        assert not other.terms
        spec = (await rivals.lease()).spec
        assert (spec.holder_identity, spec.lease_transitions) == (leader.elector.identity, 0)

    run_story(story)


def test_the_number_does_not_fall_with_a_deleted_lease():
    """A candidate that takes over continues from the last number that it saw."""

    async def story(rivals: ElectionWorld) -> None:
        leader, other = rivals.candidate(), rivals.candidate()
        leader.start()
        await until(lambda: leader.leads)
        await rivals.client.patch(
            lease := await rivals.lease(),
            with_spec(lease, lease_transitions=7),
        )
        other.start()
        await asyncio.sleep(5)
        await leader.crash()
        await rivals.client.delete(await rivals.lease())
        await until(lambda: other.leads)
        assert other.terms[0].number == 8

    run_story(story)


def test_a_clock_that_stands_still_renews_all_the_same():
    """A renewal that changes nothing would not be sent, and would look like one."""

    async def story(rivals: ElectionWorld) -> None:
        leader = rivals.candidate(stands_still=True)
        leader.start()
        await until(lambda: leader.leads)
        before = rivals.revision
        await asyncio.sleep(20)
        assert rivals.revision >= before + 8
        leader.link.part()
        await until(lambda: not leader.leads, limit=SETTINGS.renew_deadline + 0.1)

    run_story(story)


def test_a_lease_that_was_given_to_another_ends_the_term_at_the_next_renewal():
    """There is nothing to wait for then."""

    async def story(rivals: ElectionWorld) -> None:
        leader = rivals.candidate()
        leader.start()
        await until(lambda: leader.leads)
        lease = await rivals.lease()
        spec = replace(lease.spec, holder_identity="other")
        await rivals.client.patch(lease, replace(lease, spec=spec))
        assert await until(lambda: not leader.leads) <= SETTINGS.retry + 0.1

    run_story(story)


def test_a_change_of_labels_does_not_disturb_the_holder():
    """A write of another client in between is a conflict, which loses no lease."""

    async def story(rivals: ElectionWorld) -> None:
        leader = rivals.candidate()
        leader.start()
        await until(lambda: leader.leads)
        for number in range(5):
            lease = await rivals.lease()
            metadata = replace(lease.metadata, labels={"n": str(number)})
            await rivals.client.patch(lease, replace(lease, metadata=metadata))
            await asyncio.sleep(3)
        assert len(leader.terms) == 1
        assert leader.leads

    run_story(story)


def test_two_processes_of_one_name_are_distinguished():
    """Else both would take the one lease for their own."""

    async def story(rivals: ElectionWorld) -> None:
        one, two = rivals.candidate(), rivals.candidate()
        assert one.elector.identity != two.elector.identity
        assert one.elector.identity.startswith("host_")

    run_story(story)


def test_the_lease_reads_as_client_go_writes_it():
    """Whole seconds, times with six decimals, and a number that counts the changes of holder."""

    async def story(rivals: ElectionWorld) -> None:
        leader, other = rivals.candidate(), rivals.candidate()
        leader.start()
        await until(lambda: leader.leads)
        first = (await rivals.lease()).spec
        assert first.lease_duration_seconds == 15
        assert first.acquire_time == first.renew_time
        assert len(first.renew_time or "") == len("2026-01-01T00:00:00.000000Z")
        await asyncio.sleep(5)
        later = (await rivals.lease()).spec
        assert later.acquire_time == first.acquire_time
        assert (later.renew_time or "") > (first.renew_time or "")
        await leader.leave()
        freed = (await rivals.lease()).spec
        assert (freed.holder_identity, freed.lease_duration_seconds) == ("", 1)
        assert freed.lease_transitions == 0
        other.start()
        await until(lambda: other.leads)
        assert (await rivals.lease()).spec.lease_transitions == 1

    run_story(story)


def test_a_lease_of_client_go_is_waited_for_and_taken():
    """Its duration counts, not ours, and its fields that we do not write stay."""

    async def story(rivals: ElectionWorld) -> None:
        spec = LeaseSpec(
            holder_identity="kcm-0_5c1b",
            lease_duration_seconds=30,
            acquire_time=MicroTime("2020-01-01T00:00:00.000000Z"),
            renew_time=MicroTime("2020-01-01T00:00:00.000000Z"),
            lease_transitions=4,
            strategy="OldestEmulationVersion",
        )
        metadata = ObjectMeta(name="leader", namespace="default")
        await rivals.client.create(Lease(metadata=metadata, spec=spec))
        ours = rivals.candidate()
        ours.start()
        assert await until(lambda: ours.leads) >= 30
        taken = (await rivals.lease()).spec
        assert (ours.terms[0].number, taken.lease_transitions) == (5, 5)
        assert taken.strategy == "OldestEmulationVersion"

    run_story(story)


def test_a_lease_without_a_duration_is_given_our_own():
    """A bare Lease with a holder is not free at once."""

    async def story(rivals: ElectionWorld) -> None:
        metadata = ObjectMeta(name="leader", namespace="default")
        await rivals.client.create(
            Lease(metadata=metadata, spec=LeaseSpec(holder_identity="other"))
        )
        ours = rivals.candidate()
        ours.start()
        assert await until(lambda: ours.leads) >= SETTINGS.lease
        assert ours.terms[0].number == 1

    run_story(story)
