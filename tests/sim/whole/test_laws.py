"""Every law is broken by stories that are named after it, and the judge says which it was."""

import asyncio
from collections.abc import Iterator

import pytest

from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.plane.store.records import ChangeType
from kubekit.runtime.requests import Request, cluster_name
from tests.sim.trace import Trace
from tests.sim.whole import fair_stories, stories_of_cells, stories_of_lineage, stories_of_planes
from tests.sim.whole.judge import MOST_PASSES, Judge
from tests.sim.whole.lawful_world import SHOP, LawfulWorld, Story, violation_of
from tests.support.kubekit.virtual_time import run


def _stories(*modules: object) -> dict[str, Story]:
    """The stories of modules: what is named after a law, or is fair."""
    return {
        name: story
        for module in modules
        for name, story in vars(module).items()
        if name.startswith("fair_") or (name.startswith("s") and name[1:2].isdigit())
    }


BROKEN = _stories(stories_of_cells, stories_of_lineage, stories_of_planes)
FAIR = _stories(fair_stories)


def _laws() -> Iterator[str]:
    async def known() -> list[str]:
        return list(Judge(Trace()).laws)

    yield from run(known())


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_law_that_is_broken_is_named(name: str):
    """The first violation says which law was broken."""
    assert violation_of(BROKEN[name]).startswith(f"{name.partition('__')[0]}: ")


@pytest.mark.parametrize("name", sorted(FAIR))
def test_what_has_a_good_reason_breaks_no_law(name: str):
    """A cause, an excuse or a decision that was on its way is no violation."""
    assert not violation_of(FAIR[name])


def test_every_law_is_broken_by_a_story():
    """A law that nothing can break is none."""
    assert {name.partition("__")[0] for name in BROKEN} == set(_laws())


def test_the_first_violation_counts():
    """What follows a violation does not hide its cause."""

    async def story() -> None:
        judge = Judge(Trace())
        judge.accuse("first")
        judge.accuse("second")

        assert judge.violation == "first"
        assert judge.violated.is_set()

    run(story())


def test_writes_are_counted_but_for_leases():
    """A process at rest still renews its leases."""

    async def story() -> None:
        world = LawfulWorld()
        world.put(SHOP, ConfigMap(metadata=ObjectMeta(name="note")))
        world.put(SHOP, Lease(metadata=ObjectMeta(name="alive")))

        assert world.judge.writes == 1

    run(story())


def test_a_key_that_is_reconciled_without_end_is_accused():
    """So many passes within a minute are a loop."""

    async def story() -> None:
        judge, request = Judge(Trace()), Request(cluster_name("shop"), "default", "web")
        for _ in range(MOST_PASSES):
            judge.reconciled("management", "workload", request)
        assert not judge.violation
        await asyncio.sleep(60.0)
        for _ in range(MOST_PASSES + 1):
            judge.reconciled("management", "workload", request)

        assert "401 times" in judge.violation
        assert judge.passes == 2 * MOST_PASSES + 1

    run(story())


def test_a_write_that_was_acknowledged_must_have_been_made():
    """S8: an acknowledged write can be relied on."""

    async def story() -> None:
        world = LawfulWorld()
        note = world.put(SHOP, ConfigMap(metadata=ObjectMeta(name="note", uid="uid-note")))
        world.judge.acknowledged(SHOP, "uid-note", note.metadata.resource_version)
        assert not world.judge.violation
        world.judge.acknowledged(SHOP, "uid-note", "7")

        assert world.judge.violation.startswith("s8_nothing_acknowledged_is_lost: ")

    run(story())


def test_an_object_older_than_the_judge_is_known_from_its_first_event():
    """A judge that comes late compares with what the first commit says that it replaces."""

    async def story() -> None:
        early, late = LawfulWorld(), LawfulWorld()
        early.put(SHOP, ConfigMap(metadata=ObjectMeta(name="note", uid="uid-note")))
        before = early.record(SHOP, ConfigMap, "note")
        note = early.get(SHOP, ConfigMap, "note")
        late.commit(SHOP, ChangeType.MODIFIED, note, revision=2, previous=before)

        assert not late.judge.violation

    run(story())
