"""What providers must say truly, and what must not end them."""

import asyncio

import pytest

from compute.app.project_clusters import ProjectReconciler
from kubekit.client.connection import Misconfigured
from kubekit.plane.local import LocalClient
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.providers.announced import AnnouncedClusters
from kubekit.runtime.providers.kubeconfigs import KubeconfigClusters
from kubekit.runtime.requests import Request, cluster_name
from kubekit.runtime.scope import Scope
from tests.support.compute import served_kinds
from tests.support.kubekit.plane_worlds import environment, opened
from tests.support.kubekit.virtual_time import run
from tests.unit.compute.app.test_project_clusters import HOME, SHOP, project, say_ready
from tests.unit.kubekit.runtime.providers.test_kubeconfigs import with_provider, write

SLOW, NEXT = cluster_name("slow"), cluster_name("next")


class SlowToClose(LocalClient):
    async def close(self):
        await asyncio.sleep(10)


def test_what_is_withdrawn_is_not_missed_and_what_is_replaced_is(tmp_path):
    """Readiness waits for those that are to come, and not for those that are to go."""

    async def story():
        async with opened(tmp_path) as world:
            clusters, scope = Clusters("project", environment()), Scope("test")
            announced = AnnouncedClusters(clusters)
            scope.spawn(announced.run(), "announced")
            announced.announce(SLOW, SlowToClose(world.plane))
            announced.announce(NEXT, LocalClient(world.plane))
            await asyncio.sleep(1)
            announced.announce(SLOW, LocalClient(world.plane))
            announced.withdraw(NEXT)
            await asyncio.sleep(1)
            assert announced.problems() == ["project slow is not engaged yet"]
            last = LocalClient(world.plane)
            announced.announce(SLOW, last)
            await asyncio.sleep(10)
            assert announced.problems() == []
            assert [cluster.connection for cluster in clusters] == [last]
            await scope.close()
            await clusters.close()

    run(story())


def test_a_context_with_an_invalid_cluster_name_is_reported_and_affects_no_other(tmp_path):
    """A slip in a file must not end the process."""
    file = tmp_path / "kubeconfig"
    write(file, " dfw", "lhr")

    async def story(provider, engaged):
        assert engaged() == ["lhr"]
        assert provider.problems() == [f"{file}: the context ' dfw' does not name a cluster"]

    with_provider(tmp_path, [file], story)


@pytest.mark.parametrize("error", [Misconfigured("no such certificate"), OSError("unreadable")])
def test_a_connection_that_cannot_be_made_is_reported_and_affects_no_other(tmp_path, error):
    """The other contexts of the file are engaged, and the process goes on."""
    file = tmp_path / "kubeconfig"
    write(file, "bad", "good")

    async def story():
        async with opened(tmp_path / "plane") as world:

            def connect(connection):
                if connection.origin.context == "bad":
                    raise error
                return LocalClient(world.plane)

            clusters, scope = Clusters("cell", environment()), Scope("test")
            provider = KubeconfigClusters(clusters, [file], connect, environment())
            task = scope.spawn(provider.run(), "kubeconfigs")
            await asyncio.sleep(1)
            assert not task.done()
            assert [cluster.name for cluster in clusters] == ["good"]
            assert provider.problems() == [f"{file}: the context bad: {error}"]
            await scope.close()
            await clusters.close()

    run(story())


def test_class_5_a_project_made_again_under_its_name_is_another(tmp_path):
    """Its plane starts empty: what was known of the first one's must not be taken for its own."""

    async def story():
        async with opened(tmp_path, kinds=served_kinds.everything()) as world:
            client = LocalClient(world.plane)
            homes, projects = (Clusters(role, environment()) for role in ("core", "project"))
            provider = ProjectReconciler(homes, projects, lambda _: LocalClient(world.plane))
            await homes.engage(HOME, client)
            first = await client.create(project())
            await say_ready(client, "shop", "True")
            await provider.reconcile(Request(HOME, "", "shop"))
            assert projects.find(SHOP) is not None
            await client.delete(first)
            await client.create(project())
            await provider.reconcile(Request(HOME, "", "shop"))
            assert projects.find(SHOP) is None
            await say_ready(client, "shop", "True")
            await provider.reconcile(Request(HOME, "", "shop"))
            assert projects.find(SHOP) is not None
            await projects.close()
            await homes.close()

    run(story())
