"""Seeing one's own writes before deciding again."""

import asyncio

from hypothesis import given, strategies as st

from kubekit.api.kinds.core import ConfigMap, Secret
from kubekit.api.meta import with_metadata
from kubekit.client.client import Client
from kubekit.runtime.reconciling.freshness import Freshness
from kubekit.runtime.reconciling.object_keys import ObjectKey
from kubekit.runtime.requests import DONE, Request, Result
from kubekit.runtime.sources import own, owned
from kubekit.runtime.watching.informer import Informer
from tests.support.kubekit.plane_worlds import environment
from tests.support.kubekit.runtime_builders import (
    A,
    B,
    LaggingClient,
    Reconciling,
    RuntimeWorld,
    config,
    owner_of,
    run_story,
    secret,
)

ONE, TWO = Request(A, "default", "one"), Request(B, "default", "two")
CHILD = ObjectKey(A, "", "configmaps", "default", "child")
TRANSPORT = object()


def informer(revision: int = 10) -> Informer[ConfigMap]:
    """An informer that does not run, with a cache at this version."""
    made = Informer(A, Client(None), ConfigMap, environment())  # type: ignore[arg-type]
    made.cache.reach(str(revision))
    return made


def following(*informers: Informer[ConfigMap], patience: float = 1200.0) -> Freshness:
    made = Freshness(patience)
    made.follow(TRANSPORT, informers)
    return made


def child(uid: str) -> ConfigMap:
    made = config("child")
    return with_metadata(made, uid=uid)


def test_a_request_waits_until_its_write_was_seen():
    """The cache that has come so far, or further, ends the waiting."""
    follower = informer(10)
    freshness = following(follower)
    freshness.wrote(ONE, TRANSPORT, CHILD, "12")
    follower.cache.reach("11")
    assert freshness.behind(ONE, 0.0) > 0
    follower.cache.reach("12")
    assert freshness.behind(ONE, 0.0) == 0.0
    assert len(freshness) == 0


def test_only_the_request_that_wrote_waits():
    """What one object's pass wrote is no reason for another's to wait."""
    freshness = following(informer())
    freshness.wrote(ONE, TRANSPORT, CHILD, "12")
    assert freshness.behind(TWO, 0.0) == 0.0


def test_the_looks_come_ever_more_rarely():
    """From ten milliseconds, doubling, to a second; a new write starts again."""
    freshness = following(informer())
    freshness.wrote(ONE, TRANSPORT, CHILD, "12")
    waits = [freshness.behind(ONE, 0.0) for _ in range(10)]
    assert waits[:4] == [0.01, 0.02, 0.04, 0.08]
    assert waits[7:] == [1.0, 1.0, 1.0]
    freshness.wrote(ONE, TRANSPORT, CHILD, "13")
    assert freshness.behind(ONE, 0.0) == 0.01


def test_what_the_cache_has_seen_already_is_not_noted():
    """A write that changed nothing has the version that was there."""
    freshness = following(informer(12))
    freshness.wrote(ONE, TRANSPORT, CHILD, "12")
    assert len(freshness) == 0


def test_an_object_that_was_removed_must_leave_the_cache():
    """Until then the next pass would take it for still there; a later one of its name is no matter."""
    follower = informer()
    follower.cache.put(child("u1"))
    freshness = following(follower)
    freshness.removed(ONE, TRANSPORT, CHILD, "u1")
    assert freshness.behind(ONE, 0.0) > 0
    follower.cache.put(child("u2"))
    assert freshness.behind(ONE, 0.0) == 0.0
    freshness.removed(ONE, TRANSPORT, CHILD, "u1")
    assert len(freshness) == 0


def test_an_object_made_and_removed_unseen_is_not_taken_for_gone():
    """The cache is still to show it come, and then go."""
    follower = informer(10)
    freshness = following(follower)
    freshness.wrote(ONE, TRANSPORT, CHILD, "11")
    freshness.removed(ONE, TRANSPORT, CHILD, "u1")
    assert freshness.behind(ONE, 0.0) > 0
    follower.cache.put(child("u1"))
    follower.cache.reach("11")
    assert freshness.behind(ONE, 0.0) > 0
    follower.cache.drop("default", "child")
    assert freshness.behind(ONE, 0.0) == 0.0


def test_passes_do_not_wait_for_a_cluster_that_is_not_followed():
    """A kind without an informer is read live; one that is not served has nothing to show."""
    freshness = following(informer())
    freshness.wrote(ONE, TRANSPORT, CHILD._replace(plural="secrets"), "12")
    freshness.wrote(ONE, TRANSPORT, CHILD._replace(group="example.com"), "12")
    freshness.wrote(ONE, object(), CHILD, "12")
    unserved = informer()
    unserved.served = False
    freshness.follow(TRANSPORT, [unserved])
    freshness.wrote(ONE, TRANSPORT, CHILD, "12")
    assert freshness.behind(ONE, 0.0) == 0.0


def test_a_cluster_that_left_is_not_waited_for():
    """Neither its caches nor its requests are of any matter then."""
    freshness = following(informer())
    freshness.wrote(ONE, TRANSPORT, CHILD, "12")
    freshness.wrote(TWO, TRANSPORT, CHILD, "12")
    freshness.drop(A)
    assert len(freshness) == 1
    freshness.unfollow(TRANSPORT)
    freshness.unfollow(TRANSPORT)
    assert freshness.behind(TWO, 0.0) == 0.0


def test_class_2_a_cache_that_goes_back_is_waited_for():
    """A list from a server that lags shows what was before our write; no pass may decide by it."""
    follower = informer(10)
    freshness = following(follower)
    freshness.wrote(ONE, TRANSPORT, CHILD, "12")
    freshness.wrote(TWO, TRANSPORT, CHILD, "11")
    follower.cache.reach("12")
    assert (freshness.behind(ONE, 0.0), freshness.behind(TWO, 0.0)) == (0.0, 0.0)
    follower.cache.reach("9")
    assert freshness.behind(ONE, 1.0) == 0.01
    assert freshness.behind(ONE, 1.0) == 0.02
    assert freshness.behind(TWO, 1.0) == 0.01
    follower.cache.reach("12")
    assert (freshness.behind(ONE, 2.0), freshness.behind(TWO, 2.0)) == (0.0, 0.0)
    follower.cache.reach("9")
    freshness.unfollow(TRANSPORT)
    assert freshness.behind(ONE, 3.0) == 0.0


def test_patience_has_an_end(caplog):
    """A server that was restored from a backup never comes so far; the log says what is missing."""
    follower = informer(10)
    freshness = following(follower, patience=60.0)
    freshness.wrote(ONE, TRANSPORT, CHILD, "12")
    freshness.removed(TWO, TRANSPORT, CHILD, "u1")
    assert freshness.behind(ONE, 100.0) > 0
    assert freshness.behind(ONE, 159.0) > 0
    assert freshness.behind(ONE, 160.0) == 0.0
    assert (caplog.records[0].request, caplog.records[0].missing) == (
        "a/default/one",
        "configmaps default/child",
    )


def test_what_was_seen_is_forgotten_without_being_asked_for():
    """Requests that never come again do not fill the memory."""
    follower = informer(0)
    freshness = following(follower)
    for number in range(1, 5000):
        request = Request(A, "default", f"o{number}")
        freshness.wrote(request, TRANSPORT, CHILD._replace(name=f"o{number}"), str(number))
        follower.cache.reach(str(number - 10))
    assert len(freshness) <= 1024


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 50)), max_size=40))
def test_it_waits_exactly_while_the_newest_write_is_unseen(steps):
    """Whatever comes in whichever order, a request is behind until the cache has its last write."""
    follower = informer(0)
    freshness = following(follower)
    written = 0
    for writes, version in steps:
        if writes and version > written:
            written = version
            freshness.wrote(ONE, TRANSPORT, CHILD, str(version))
        elif not writes and version > follower.cache.revision:
            follower.cache.reach(str(version))
        assert (freshness.behind(ONE, 0.0) > 0) is (follower.cache.revision < written)


def test_class_4_a_pass_waits_for_its_own_writes(tmp_path):
    """With a watch that is ten minutes late, a child is made once, and no worker waits for it."""

    async def story(world: RuntimeWorld) -> None:
        lagging = LaggingClient(world.planes[B])
        lagging.flows.set()
        await world.projects.engage(B, lagging)
        parent = await world.write("parent", B)

        async def reconcile(request: Request) -> Result:
            cluster = world.projects.get(request.cluster)
            children = cluster.informers.of(Secret).cache.list("default")
            if request.name == "parent" and not children:
                number = len(reconciler.asked)
                await cluster.client.create(secret(f"child-{number}", [owner_of(parent)]))
            return DONE

        reconciler = Reconciling(reconcile)
        sources = [own(ConfigMap, world.projects), owned(Secret, world.projects, ConfigMap)]
        controller = world.controller(reconciler, sources)
        await asyncio.sleep(1)
        lagging.flows.clear()
        world.start(controller)
        await asyncio.sleep(1)
        for _ in range(10):
            controller.queue.add(Request(B, "default", "parent"))
            await asyncio.sleep(60)
        assert reconciler.names.count("parent") == 1
        assert controller.counters.own_write_waits > 100
        assert controller.counters.active == 0
        lagging.flows.set()
        await asyncio.sleep(2)
        assert reconciler.names.count("parent") == 2
        assert len((await world.client(B).list(Secret, "default")).items) == 1

    run_story(tmp_path, story)
