"""A name is of one cluster within its role: figures of two roles must not run together."""

import asyncio

from kubekit.api.kinds.core import ConfigMap
from kubekit.plane.local import LocalClient
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.manager import Manager, Runnables
from tests.support.kubekit.plane_worlds import environment, opened
from tests.support.kubekit.runtime_builders import A
from tests.support.kubekit.virtual_time import run


def test_two_roles_may_have_a_cluster_of_the_same_name(tmp_path):
    """A scrape with two values for one series would be refused."""

    async def story():
        async with opened(tmp_path) as world:
            roles = [Clusters(role, environment()) for role in ("hub", "project")]
            for clusters in roles:
                cluster = await clusters.engage(A, LocalClient(world.plane))
                cluster.informers.of(ConfigMap)
            await asyncio.sleep(1)
            text = Manager(Runnables(clusters=roles)).metrics.text().decode()
            for clusters in roles:
                await clusters.close()
        return [line.split(" ")[0] for line in text.splitlines() if "informer_objects{" in line]

    series = run(story())
    assert len(series) == len(dict.fromkeys(series)) == 2
