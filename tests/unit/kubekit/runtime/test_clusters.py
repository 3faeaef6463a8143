"""Clusters come and go, and nothing is left of one that has gone."""

import asyncio

import pytest

from kubekit.api.kinds.core import ConfigMap
from kubekit.plane.local import LocalClient
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import NotEngaged, cluster_name
from tests.support.kubekit.plane_worlds import environment, opened
from tests.support.kubekit.virtual_time import run

P1, P2 = cluster_name("p1"), cluster_name("p2")


class Ear:
    """Records the calls it receives."""

    def __init__(self):
        self.calls = []

    def engage(self, cluster):
        self.calls.append(("engage", cluster.name))

    def disengage(self, cluster):
        self.calls.append(("disengage", cluster.name))


class Closing(LocalClient):
    """A client that knows whether it was closed."""

    closed = False

    async def close(self):
        self.closed = True


def with_clusters(directory, story):
    async def scenario():
        async with opened(directory) as world:
            clusters = Clusters("project", environment())
            try:
                await story(clusters, lambda: Closing(world.plane))
            finally:
                await clusters.close()

    run(scenario())


def test_a_listener_is_called_for_all_clusters(tmp_path):
    """For engaged clusters at once, for later ones when they are engaged, for each when it leaves."""

    async def story(clusters, client):
        ear = Ear()
        await clusters.engage(P1, client())
        clusters.join(ear)
        await clusters.engage(P2, client())
        await clusters.disengage(P1)
        await clusters.disengage(P1)
        assert ear.calls == [("engage", "p1"), ("engage", "p2"), ("disengage", "p1")]
        assert [cluster.name for cluster in clusters] == ["p2"]
        assert len(clusters) == 1

    with_clusters(tmp_path, story)


def test_engaging_the_same_again_changes_nothing(tmp_path):
    """A provider may say the same as often as it likes."""

    async def story(clusters, client):
        ear, same = Ear(), client()
        clusters.join(ear)
        first = await clusters.engage(P1, same)
        assert await clusters.engage(P1, same) is first
        assert ear.calls == [("engage", "p1")]

    with_clusters(tmp_path, story)


def test_another_client_is_another_cluster(tmp_path):
    """The first one goes, with all that watched it, before the second takes its place."""

    async def story(clusters, client):
        ear, old = Ear(), client()
        clusters.join(ear)
        first = await clusters.engage(P1, old)
        second = await clusters.engage(P1, client())
        assert ear.calls == [("engage", "p1"), ("disengage", "p1"), ("engage", "p1")]
        assert (first.scope.closed, old.closed) == (True, True)
        assert clusters.get(P1) is second

    with_clusters(tmp_path, story)


def test_a_cluster_takes_its_informers_along(tmp_path):
    """What watched a cluster that has gone hears nothing more, and cannot begin anew."""

    async def story(clusters, client):
        cluster = await clusters.engage(P1, client())
        informer = cluster.informers.of(ConfigMap)
        await informer.wait_synced()
        await clusters.disengage(P1)
        with pytest.raises(RuntimeError, match="p1 has ended"):
            cluster.scope.spawn(asyncio.sleep(1), "late")
        with pytest.raises(NotEngaged, match="the cluster p1 is not engaged"):
            clusters.get(P1)
        assert clusters.find(P1) is None

    with_clusters(tmp_path, story)


def test_problems_name_cluster_and_kind(tmp_path):
    """Until a cache is filled, readiness can say which one is missing, and where."""

    async def story(clusters, client):
        cluster = await clusters.engage(P1, client())
        informer = cluster.informers.of(ConfigMap)
        assert clusters.problems() == ["project p1: ConfigMap: not listed yet"]
        await informer.wait_synced()
        assert clusters.problems() == []

    with_clusters(tmp_path, story)


def test_a_task_that_failed_is_a_problem(tmp_path):
    """A cache that is no longer kept in sync must be reported as a problem."""

    async def fails():
        raise LookupError("no")

    async def story(clusters, client):
        cluster = await clusters.engage(P1, client())
        cluster.scope.spawn(fails(), "informer of Box")
        await asyncio.sleep(1)
        assert clusters.problems() == ["project p1: p1/informer of Box failed: LookupError('no')"]

    with_clusters(tmp_path, story)
