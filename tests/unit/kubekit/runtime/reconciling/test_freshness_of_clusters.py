"""A cluster that is behind delays its own requests, and no others."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from kubekit.api.kinds.core import ConfigMap
from kubekit.client.options import PLAIN_WATCH
from kubekit.plane.local import LocalClient
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.reconciling.object_keys import ObjectKey
from kubekit.runtime.requests import DONE, Request, Result
from kubekit.runtime.sources import mapped, own
from tests.support.kubekit.runtime_builders import A, B, Reconciling, config, run_story
from tests.unit.kubekit.runtime.reconciling.test_freshness import (
    CHILD,
    ONE,
    TRANSPORT,
    TWO,
    following,
    informer,
)

OTHER = object()


def test_class_2_a_cluster_that_goes_back_holds_up_no_other():
    """A plane restored from a backup costs its own requests their patience, not those of all."""
    back, well = informer(12), informer(12)
    freshness = following(back)
    freshness.follow(OTHER, [well])
    freshness.wrote(ONE, TRANSPORT, CHILD, "12")
    freshness.wrote(TWO, OTHER, ObjectKey(B, *CHILD[1:]), "12")
    back.cache.reach("9")
    assert freshness.behind(ONE, 1.0) > 0
    assert freshness.behind(TWO, 1.0) == 0.0


def test_what_the_requests_of_a_cluster_saw_goes_with_it():
    """One that is engaged again under the same name starts again."""
    follower = informer(12)
    freshness = following(follower)
    freshness.wrote(ONE, TRANSPORT, CHILD, "12")
    freshness.drop(A)
    follower.cache.reach("9")
    assert freshness.behind(ONE, 1.0) == 0.0


class GappyClient(LocalClient):
    """A client whose watches lose what happens in a gap."""

    gap = False

    @asynccontextmanager
    async def watch(self, kind, namespace="", options=PLAIN_WATCH):
        async with super().watch(kind, namespace, options) as seen:
            yield (one async for one in seen if not self.gap)


def test_an_unseen_write_is_looked_after_soon_though_the_pass_asked_for_later(tmp_path):
    """What came and went in a gap of the watch must not wait for a look that is far off."""
    passes = []

    async def story(world):
        client, user = GappyClient(world.planes[B]), world.client(B)

        async def reconcile(request: Request):
            if request.name == "one":
                passes.append(asyncio.get_running_loop().time())
                writer = world.projects.get(request.cluster).client
                if not await writer.find(ConfigMap, "child", "default"):
                    await writer.create(config("child"))
            return Result(timedelta(hours=1))

        world.start(world.controller(Reconciling(reconcile)))
        await user.create(config("one"))
        client.gap = True
        await world.projects.engage(B, client)
        await asyncio.sleep(1)
        await user.delete(await user.get(ConfigMap, "child", "default"))
        client.gap = False
        await user.create(config("other"))
        await asyncio.sleep(35)
        assert len(passes) == 2
        assert await user.find(ConfigMap, "child", "default")

    run_story(tmp_path, story)


@pytest.mark.parametrize(("awaited", "passes"), [(True, 1), (False, 3)])
def test_writes_are_waited_for_only_where_a_source_says_so(tmp_path, awaited, passes):
    """An interrupted watch of another plane delays no controller that reads live there."""
    seen = []

    async def story(world):
        client = GappyClient(world.planes[B])
        client.gap = True
        others = Clusters("others", world.environment)
        await others.engage(B, client)

        async def reconcile(request: Request):
            seen.append(request)
            if len(seen) == 1:
                await others.get(B).client.create(config("far"))
            return Result(timedelta(seconds=1)) if len(seen) < passes else DONE

        far = mapped(ConfigMap, others, lambda *_: (), awaited=awaited)
        sources = [own(ConfigMap, world.projects), far]
        world.start(world.controller(Reconciling(reconcile), sources))
        await world.write("one")
        await asyncio.sleep(20)
        await others.close()
        assert len(seen) == passes

    run_story(tmp_path, story)
