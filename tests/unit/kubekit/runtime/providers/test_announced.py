"""Clusters announced from within the process."""

import asyncio

from kubekit.plane.local import LocalClient
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.providers.announced import AnnouncedClusters
from kubekit.runtime.providers.fixed import FixedCluster
from kubekit.runtime.requests import cluster_name
from kubekit.runtime.scope import Scope
from tests.support.kubekit.plane_worlds import environment, opened
from tests.support.kubekit.virtual_time import run

P1, P2 = cluster_name("p1"), cluster_name("p2")


def with_announced(directory, story):
    async def scenario():
        async with opened(directory) as world:
            clusters, scope = Clusters("project", environment()), Scope("test")
            announced = AnnouncedClusters(clusters)
            scope.spawn(announced.run(), "announced")
            try:
                await story(clusters, announced, LocalClient(world.plane))
            finally:
                await scope.close()
                await clusters.close()

    run(scenario())


def test_what_is_announced_is_engaged_and_what_is_withdrawn_goes(tmp_path):
    """Neither call waits: the provider does it, and says until then what it has not done."""

    async def story(clusters, announced, client):
        announced.announce(P1, client)
        announced.announce(P2, client)
        assert announced.problems() == [
            "project p1 is not engaged yet",
            "project p2 is not engaged yet",
        ]
        await asyncio.sleep(1)
        assert announced.problems() == []
        announced.withdraw(P1)
        await asyncio.sleep(1)
        assert [cluster.name for cluster in clusters] == ["p2"]

    with_announced(tmp_path, story)


def test_the_last_word_counts(tmp_path):
    """Announced and withdrawn before the provider ran: it is never engaged."""

    async def story(clusters, announced, client):
        announced.announce(P1, client)
        announced.withdraw(P1)
        await asyncio.sleep(1)
        assert len(clusters) == 0

    with_announced(tmp_path, story)


def test_a_fixed_cluster_is_engaged_once(tmp_path):
    """One cluster, from the beginning to the end."""

    async def story(clusters, _, client):
        fixed = FixedCluster(clusters, P1, client)
        assert fixed.problems() == ["project p1 is not engaged yet"]
        await fixed.run()
        assert clusters.get(P1).connection is client
        assert fixed.problems() == []

    with_announced(tmp_path, story)
