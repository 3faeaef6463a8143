"""Live reads on a real plane, beside a cache that lags behind it."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kubekit.api.errors import Conflict, Unavailable
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import Condition, ObjectMeta, with_metadata
from kubekit.client.client import Client
from kubekit.plane.registry import builtins
from kubekit.plane.registry.kinds import Kinds
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster
from tests.support.kubekit.runtime_builders import A, LaggingClient, annotated, world
from tests.support.kubekit.virtual_time import run

Story = Callable[[Cluster, Client], Awaitable[None]]
HELD = "example.com/held"


def box(name: str = "box", **metadata: object) -> ConfigMap:
    meta = ObjectMeta(name=name, namespace="default")
    return with_metadata(ConfigMap(metadata=meta), **metadata)


def condition(reason: str, kind: str = "Ready") -> Condition:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Condition(type=kind, status="False", reason=reason, last_transition_time=at)


def with_lagging_cache(directory: Path, story: Story, kinds: Kinds | None = None) -> None:
    """Run a story with a cluster whose cache shows its first list only, and with a user's client."""

    async def scenario() -> None:
        async with world(directory, [A], kinds) as there:
            client = LaggingClient(there.planes[A])
            await story(await there.projects.engage(A, client), there.client(A))

    run(scenario())


async def replaced(user: Client, seen: ConfigMap) -> ConfigMap:
    """Another object of the same name."""
    await user.delete(seen)
    return await user.create(box(seen.metadata.name))


def test_a_cached_read_uses_the_cache_once_it_is_synced(tmp_path):
    """Before the first list the server is asked; afterwards the cache counts, even if it lags."""

    async def story(cluster, user):
        first = await user.create(box("first"))
        assert await live.cached(cluster, ConfigMap, "first", "default") == first
        await cluster.informers.wait_synced()
        await user.create(box("second"))
        assert await live.cached(cluster, ConfigMap, "second", "default") is None
        second = await live.cached_or_live(cluster, ConfigMap, "second", "default")
        assert second is not None
        assert second == await live.find(cluster, ConfigMap, "second", "default")

    with_lagging_cache(tmp_path, story)


def test_a_cached_or_live_read_takes_what_the_cache_has(tmp_path):
    """The server is asked only for what the cache does not have."""

    async def story(cluster, user):
        first = await user.create(box())
        cluster.informers.of(ConfigMap)
        await cluster.informers.wait_synced()
        await user.patch(first, annotated(first, color="red"))
        assert await live.cached_or_live(cluster, ConfigMap, "box", "default") == first

    with_lagging_cache(tmp_path, story)


def test_absence_is_certain_once_the_kind_has_been_listed(tmp_path):
    """None proves that the object is absent; what exists is returned in any case."""

    async def story(cluster, user):
        made = await user.create(box())
        assert await live.certain(cluster, ConfigMap, "box", "default") == made
        cluster.informers.of(ConfigMap)
        await cluster.informers.wait_synced()
        await user.delete(made)
        assert await live.certain(cluster, ConfigMap, "box", "default") is None

    with_lagging_cache(tmp_path, story)


def test_trap_not_found_before_the_first_list_proves_nothing(tmp_path):
    """A server that does not serve the kind answers "not found" for every object of it."""

    async def story(cluster, _user):
        with pytest.raises(Unavailable, match="a: ConfigMap default/box is not found"):
            await live.certain(cluster, ConfigMap, "box", "default")

    kinds = Kinds(tuple(k for k in builtins.core() if k.resource.kind != "ConfigMap"))
    with_lagging_cache(tmp_path, story, kinds)


def test_the_same_object_is_found_by_its_uid(tmp_path):
    """A newer version of it is the same object; another object of its name is not."""

    async def story(cluster, user):
        seen = await user.create(box())
        newer = await user.patch(seen, annotated(seen, color="red"))
        assert await live.same(cluster.client, seen) == newer
        await replaced(user, newer)
        assert await live.same(cluster.client, seen) is None

    with_lagging_cache(tmp_path, story)


def test_a_reference_leads_to_the_object_with_its_uid_alone(tmp_path):
    """A reference that outlives its object does not lead to another object of the name."""

    async def story(cluster, user):
        seen = await user.create(box())
        meta = seen.metadata
        reference = (type(seen), meta.name, meta.namespace, meta.uid)
        assert await live.with_uid(cluster.client, *reference) == seen
        await replaced(user, seen)
        assert await live.with_uid(cluster.client, *reference) is None

    with_lagging_cache(tmp_path, story)


def test_a_deleting_object_is_the_same_and_not_current(tmp_path):
    """Nothing is made for an object that waits only for its finalizers."""

    async def story(cluster, user):
        seen = await user.create(box(finalizers=(HELD,)))
        assert await live.current(cluster.client, seen) == seen
        await user.delete(seen)
        same = await live.same(cluster.client, seen)
        assert same is not None
        assert same.deleting
        assert await live.current(cluster.client, seen) is None

    with_lagging_cache(tmp_path, story)


def test_a_missing_object_is_neither_the_same_nor_current(tmp_path):
    async def story(cluster, user):
        seen = await user.create(box())
        await user.delete(seen)
        assert await live.same(cluster.client, seen) is None
        assert await live.current(cluster.client, seen) is None

    with_lagging_cache(tmp_path, story)


def test_confirm_accepts_an_object_that_is_as_it_was_seen(tmp_path):
    """Its version may be newer. Deleting or not, it must be what the cache shows."""

    async def story(cluster, user):
        seen = await user.create(box(finalizers=(HELD,)))
        newer = await user.patch(seen, annotated(seen, color="red"))
        await live.confirm(cluster.client, seen)
        await user.delete(newer)
        deleting = await user.get(ConfigMap, "box", "default")
        await live.confirm(cluster.client, deleting)
        with pytest.raises(Conflict, match="it is deleted or was replaced"):
            await live.confirm(cluster.client, seen)

    with_lagging_cache(tmp_path, story)


def test_confirm_refuses_a_missing_and_a_replaced_object(tmp_path):
    async def story(cluster, user):
        seen = await user.create(box())
        await replaced(user, seen)
        with pytest.raises(Conflict):
            await live.confirm(cluster.client, seen)
        await user.delete(await user.get(ConfigMap, "box", "default"))
        with pytest.raises(Conflict):
            await live.confirm(cluster.client, seen)

    with_lagging_cache(tmp_path, story)


def test_a_create_of_a_taken_name_returns_nothing(tmp_path):
    async def story(cluster, user):
        made = await live.create(cluster.client, box())
        assert made == await user.get(ConfigMap, "box", "default")
        assert await live.create(cluster.client, box()) is None

    with_lagging_cache(tmp_path, story)


def test_a_delete_takes_any_version_of_the_object_and_no_other_object(tmp_path):
    """The second delete finds nothing; another object of the name is a Conflict."""

    async def story(cluster, user):
        seen = await user.create(box())
        await user.patch(seen, annotated(seen, color="red"))
        assert await live.delete(cluster.client, seen)
        assert not await live.delete(cluster.client, seen)
        other = await user.create(box())
        with pytest.raises(Conflict):
            await live.delete(cluster.client, seen)
        assert await user.get(ConfigMap, "box", "default") == other

    with_lagging_cache(tmp_path, story)


def test_a_delete_as_read_spares_an_object_that_changed(tmp_path):
    """A change since the read is a Conflict, which requeues; an absent object is done."""

    async def story(cluster, user):
        seen = await user.create(box())
        newer = await user.patch(seen, annotated(seen, color="red"))
        with pytest.raises(Conflict):
            await live.delete_as_read(cluster.client, seen)
        assert await live.delete_as_read(cluster.client, newer)
        assert not await live.delete_as_read(cluster.client, newer)

    with_lagging_cache(tmp_path, story)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ((), (condition("Broken"),), "Broken"),
        ((condition("Starting"),), (condition("Broken"),), "Broken"),
        ((condition("Broken"),), (condition("Broken"),), None),
        ((condition("Broken"),), (), None),
        ((condition("Broken", "Other"),), (condition("Broken"),), "Broken"),
    ],
)
def test_a_condition_is_worth_an_event_when_its_reason_is_new(before, after, reason):
    """An event on every reconcile pass would repeat what the condition says already."""
    new = live.changed(before, after, "Ready")
    assert (new.reason if new else None) == reason
