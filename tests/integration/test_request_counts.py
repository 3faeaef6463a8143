"""How many requests management sends for a Workload: created, ready, deleted."""

from collections import Counter
from collections.abc import Sequence

import pytest

from compute.api.compute import Workload
from compute.app.links import Link
from compute.app.planes import PlaneRef
from compute.app.world import World
from kubekit.client.client import Client
from kubekit.plane.local import LocalTransport
from tests.integration.worlds import PROJECT, Watched, run_story, workload
from tests.support.kubekit.request_counts import CountingTransport, RequestCounts, Sent

LATENCY = 0.01  # seconds of a request: a pass sees what arrives during the one before it


class CountedWorld(World):
    """A world that counts the requests of management."""

    counts = RequestCounts()

    def connect(self, part: str, ref: PlaneRef, manager: str, links: Sequence[Link]) -> Client:
        if part != "management":
            return super().connect(part, ref, manager, links)
        transport = LocalTransport(self.planes[ref], manager=manager, gates=links)
        return Client(CountingTransport(transport, self.counts, ref.name, LATENCY))


def table(counted: "Counter[Sent]") -> str:
    """The requests as a failed test shows them."""
    lines = [f"{times:3} {' '.join(map(str, each))}" for each, times in sorted(counted.items())]
    return "\n".join((f"{counted.total()} requests", *lines))


@pytest.mark.parametrize(
    ("cities", "replicas", "most", "in_vain"),
    [(("DFW",), 1, 40, 4), (("DFW",), 2, 50, 6), (("DFW", "LHR"), 1, 72, 8)],
)
def test_the_life_of_a_workload_takes_few_requests(cities, replicas, most, in_vain):
    """Of management to projects and hub, its events among them. Few reads find nothing: the last ones.

    The second Workload is counted, since the first one makes the namespace.
    """

    async def story(world: Watched) -> None:
        counts, mark = CountedWorld.counts, 0
        for _ in range(2):
            await world.rest()
            mark = len(counts.sent)
            await world.deploy(workload(cities=cities, replicas=replicas))
            await world.rest()
            await world.user.delete(await world.user.get(Workload, "web", "default"))
            await world.gone(PROJECT, Workload, "web", "default")
            await world.rest()
        counted = counts.since(mark)
        assert counted.total() <= most, table(counted)
        assert sum(times for each, times in counted.items() if each.code >= 400) <= in_vain

    run_story(story, cities, kind=CountedWorld)
