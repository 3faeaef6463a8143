"""What a desk remembers is bounded, whatever is said."""

from datetime import UTC, datetime
from random import Random

import pytest

from kubekit.api.kinds.core import ConfigMap
from kubekit.api.kinds.events import CoreEvent
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client
from kubekit.plane.local import LocalClient
from kubekit.runtime.reporting import event_series
from kubekit.runtime.reporting.event_limits import TokenBucket
from kubekit.runtime.reporting.event_series import EventMessage, Reporter
from kubekit.runtime.reporting.event_sink import EventSink
from tests.support.kubekit import plane_worlds, virtual_time

SAID = EventMessage("Normal", "Created", "it was made", "Create")
WHEN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def sink(tmp_path) -> EventSink:
    async def made() -> Client:
        async with plane_worlds.opened(tmp_path) as world:
            return LocalClient(world.plane)

    return EventSink(virtual_time.run(made()), Random(1))


def event(name: str) -> CoreEvent:
    regarding = ConfigMap(metadata=ObjectMeta(name=name, namespace="default", uid=name))

    async def made() -> CoreEvent:
        reporter = Reporter("workload", "host")
        return event_series.first(regarding, SAID, reporter, plane_worlds.environment())

    return virtual_time.run(made())


def test_the_least_recently_counted_series_is_forgotten_first(sink):
    """It begins anew when it is said again; the others are counted on."""
    one = event("one")
    for number in range(4097):
        sink.start((str(number), SAID), one, 0.0)
    assert not sink.repeat(("0", SAID), WHEN, 1.0)
    assert sink.repeat(("1", SAID), WHEN, 1.0)
    sink.start(("new", SAID), one, 1.0)
    assert sink.repeat(("1", SAID), WHEN, 2.0)
    assert not sink.repeat(("2", SAID), WHEN, 2.0)


def test_the_allowances_of_objects_are_bounded(sink):
    """An object without recent events has its whole budget again."""
    for _ in range(26):
        sink.admits("first", 0.0)
    assert not sink.admits("first", 0.0)
    for number in range(4096):
        sink.admits(str(number), 0.0)
    assert sink.admits("first", 0.0)


def test_an_allowance_fills_up_again():
    """One more each five minutes, and never more than at the beginning."""
    allowance = TokenBucket(0.0)
    assert [allowance.take(0.0) for _ in range(26)] == [True] * 25 + [False]
    assert [allowance.take(300.0), allowance.take(300.0)] == [True, False]
    assert not allowance.is_whole(300.0 + 24 * 300.0)
    assert allowance.is_whole(300.0 + 25 * 300.0)
    assert [allowance.take(1e6) for _ in range(26)] == [True] * 25 + [False]
