"""The quota of a plane, which concurrent writers cannot exceed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from kubekit.api.errors import Forbidden
from kubekit.client.options import PLAIN_DELETE, PLAIN_WRITE, WriteOptions
from kubekit.plane.admission.quota import Quota, QuotaUsage
from kubekit.plane.registry import builtins
from kubekit.plane.registry.definitions import served_kinds
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.records import ChangeType, Draft
from kubekit.plane.store.store import RevisionConflict, Store
from tests.support.generated import depth
from tests.support.kubekit.admission_builders import SPACE, TWO_VERSIONS
from tests.support.kubekit.plane_worlds import environment

MAPS = "/configmaps"


class Room:
    """A registry with a quota."""

    def __init__(self, registry: Registry, usage: QuotaUsage) -> None:
        self.registry, self.usage = registry, usage

    async def make(
        self, name: str, text: str = "", kind: str = "ConfigMap", *, dry: bool = False
    ) -> None:
        found = self.registry.kinds.require("v1", kind)
        document = {"metadata": {"name": name}, "data": {"a": text}}
        await self.registry.create(found, SPACE, document, WriteOptions(dry_run=dry))

    async def write(self, name: str, text: str, **metadata: Any) -> None:
        found = self.registry.kinds.require("v1", "ConfigMap")
        document = {"metadata": {"name": name, **metadata}, "data": {"a": text}}
        await self.registry.update(found, SPACE, name, document, PLAIN_WRITE)

    async def drop(self, name: str) -> None:
        found = self.registry.kinds.require("v1", "ConfigMap")
        await self.registry.delete(found, SPACE, name, PLAIN_DELETE)

    def truth(self) -> tuple[int, int]:
        """What is there, counted one by one."""
        store = self.registry.store
        records = [r for s in self.registry.kinds.stored() for r in store.collection(s).range()]
        return len(records), sum(len(record.data) for record in records)


@asynccontextmanager
async def room(directory: Path, quota: Quota) -> AsyncIterator[Room]:
    """A namespace with a quota that counts from here on: the namespace is there already."""
    surroundings = environment()
    store = await Store.open(directory / "quota.db", surroundings, threaded=False)
    registry = Registry(store, Kinds(builtins.core()), surroundings)
    space = registry.kinds.require("v1", "Namespace")
    if store.find(space.storage, SPACE) is None:
        await registry.create(space, "", {"metadata": {"name": SPACE}}, PLAIN_WRITE)
    usage = QuotaUsage(registry, quota)
    registry.admission.validating.append(usage.admit)
    try:
        yield Room(registry, usage)
    finally:
        usage.close()
        registry.close()
        await store.close()


def test_what_is_there_is_counted_when_it_opens(tmp_path: Path):
    """Also what an earlier process wrote."""

    async def story() -> None:
        async with room(tmp_path, Quota()) as first:
            await first.make("a", "x" * 100)
        async with room(tmp_path, Quota()) as again:
            assert (again.usage.objects, again.usage.size) == again.truth()
            assert again.usage.objects == 2

    asyncio.run(story())


def test_t6_one_object_too_many_is_refused(tmp_path: Path):
    """The refusal tells how many there are, how many may be, and what there is most of."""

    async def story() -> None:
        async with room(tmp_path, Quota(objects=3)) as there:
            await there.make("a")
            await there.make("b")
            with pytest.raises(Forbidden) as refusal:
                await there.make("c")
            assert refusal.value.message == (
                'configmaps "c" is forbidden: exceeded quota: requested: objects=1, used: '
                "objects=3, limited: objects=3; delete what is not needed, such as some of the "
                "2 configmaps"
            )
            assert refusal.value.details is not None
            assert (refusal.value.details.name, refusal.value.details.kind) == ("c", "configmaps")

    asyncio.run(story())


def test_room_is_made_by_deleting(tmp_path: Path):
    """Deleting is always possible, and creating is again afterwards."""

    async def story() -> None:
        async with room(tmp_path, Quota(objects=2)) as there:
            await there.make("a")
            await there.drop("a")
            await there.make("b")
            assert there.usage.objects == 2

    asyncio.run(story())


def test_t6_a_kind_may_have_a_limit_of_its_own(tmp_path: Path):
    """Other kinds are not touched by it."""

    async def story() -> None:
        async with room(tmp_path, Quota(of_kind={"configmaps": 1})) as there:
            await there.make("a")
            with pytest.raises(Forbidden) as refusal:
                await there.make("b")
            assert refusal.value.message == (
                'configmaps "b" is forbidden: exceeded quota: requested: configmaps=1, used: '
                "configmaps=1, limited: configmaps=1; delete configmaps that are not needed"
            )
            await there.make("s", kind="Secret")

    asyncio.run(story())


def test_t6_too_many_bytes_are_refused(tmp_path: Path):
    """For a new object and for one that grows; one that shrinks is let be."""

    async def story() -> None:
        async with room(tmp_path, Quota(size=5000)) as there:
            await there.make("a", "x" * 2000)
            with pytest.raises(Forbidden, match=r"used: bytes=.*, limited: bytes=5000"):
                await there.make("b", "x" * 3000)
            with pytest.raises(Forbidden, match=r"configmaps take [0-9]+ bytes"):
                await there.write("a", "x" * 6000)
            await there.write("a", "x" * 2500)
            await there.write("a", "y")
            await there.make("b", "x" * 3000)

    asyncio.run(story())


def test_an_object_may_always_come_to_its_end(tmp_path: Path):
    """Being marked for deletion makes an object larger, and must not be refused."""

    async def story() -> None:
        async with room(tmp_path, Quota(size=2000)) as there:
            found = there.registry.kinds.require("v1", "ConfigMap")
            held = {
                "metadata": {"name": "a", "finalizers": ["x.example/y"]},
                "data": {"a": "x" * 300},
            }
            await there.registry.create(found, SPACE, held, PLAIN_WRITE)
            tight = QuotaUsage(there.registry, Quota(size=there.usage.size))
            there.registry.admission.validating[:] = [tight.admit]
            await there.drop("a")
            await there.write("a", "x" * 400, finalizers=["x.example/y"])
            with pytest.raises(Forbidden):
                await there.make("b")
            tight.close()

    asyncio.run(story())


def test_a_trial_is_judged_like_any_other(tmp_path: Path):
    """And takes no room."""

    async def story() -> None:
        async with room(tmp_path, Quota(objects=2)) as there:
            await there.make("a", dry=True)
            assert there.usage.objects == 1
            await there.make("a")
            with pytest.raises(Forbidden):
                await there.make("b", dry=True)

    asyncio.run(story())


def test_kinds_that_come_later_are_counted(tmp_path: Path):
    """Their objects may have been there before."""

    async def story() -> None:
        async with room(tmp_path, Quota()) as there:
            boats = served_kinds.kinds_of(TWO_VERSIONS)
            there.registry.kinds = there.registry.kinds.with_kinds(boats)
            boat = {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": "b"}}
            await there.registry.create(boats[0], SPACE, boat, PLAIN_WRITE)
            assert (there.usage.objects, there.usage.size) == there.truth()

    asyncio.run(story())


def test_what_is_written_behind_ones_back_is_counted(tmp_path: Path):
    """Whatever the store keeps takes room, whether or not its kind is served."""

    async def story() -> None:
        async with room(tmp_path, Quota()) as there:
            before = there.usage.objects
            store = there.registry.store
            for revision, change in ((0, ChangeType.ADDED), (2, ChangeType.MODIFIED)):
                await store.write(_draft("example.com/ships", "a/b", revision, change, b"x" * 50))
            assert there.usage.objects == before + 1

    asyncio.run(story())


def _draft(storage: str, key: str, previous: int, change: ChangeType, text: bytes) -> Draft:
    head = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{'
    return Draft(storage, key, previous, change, head, b'"name":"b"},"data":"%b"}' % text)


def test_t6_changes_on_their_way_count(tmp_path: Path):
    """Of a thousand at once as many are stored as there is room for, and not one more."""

    async def story() -> None:
        async with room(tmp_path, Quota(objects=11)) as there:
            store, usage = there.registry.store, there.usage

            async def write(number: int) -> bool:
                draft = _draft(MAPS, f"{SPACE}/{number}", 0, ChangeType.ADDED, b"")
                try:
                    held = usage.reserve(draft)
                except Forbidden:
                    return False
                try:
                    await store.write(draft)
                finally:
                    usage.release(held)
                return True

            stored = await asyncio.gather(*map(write, range(1000)))
            assert sum(stored) == 10
            assert (usage.objects, usage.size) == there.truth()

    asyncio.run(story())


def test_t6_bytes_on_their_way_count(tmp_path: Path):
    """A second change finds the room that the first will take gone."""

    async def story() -> None:
        async with room(tmp_path, Quota(size=3000)) as there:
            first = _draft(MAPS, "room/a", 0, ChangeType.ADDED, b"x" * 1500)
            second = _draft(MAPS, "room/b", 0, ChangeType.ADDED, b"x" * 1500)
            held = there.usage.reserve(first)
            with pytest.raises(Forbidden):
                there.usage.reserve(second)
            there.usage.release(held)
            there.usage.release(there.usage.reserve(second))
            assert (there.usage.objects, there.usage.size) == there.truth()

    asyncio.run(story())


def test_t6_single_kinds_on_their_way_count(tmp_path: Path):
    """A limit of one kind holds for what is coming as well."""

    async def story() -> None:
        async with room(tmp_path, Quota(of_kind={"configmaps": 1})) as there:
            there.usage.reserve(_draft(MAPS, "room/a", 0, ChangeType.ADDED, b""))
            with pytest.raises(Forbidden, match="used: configmaps=1"):
                there.usage.reserve(_draft(MAPS, "room/b", 0, ChangeType.ADDED, b""))

    asyncio.run(story())


def test_a_deletion_takes_no_room(tmp_path: Path):
    """Neither does the mark that an object is to go."""

    async def story() -> None:
        async with room(tmp_path, Quota(size=1)) as there:
            usage = there.usage
            size = usage.size
            usage.reserve(_draft(MAPS, "room/a", 3, ChangeType.DELETED, b""))
            assert usage.size == size
            marked = Draft(MAPS, "room/a", 3, ChangeType.MODIFIED, b'{"metadata":{',
                           b'"deletionTimestamp":"2026-01-01T00:00:00Z"}}')  # fmt: skip
            usage.release(usage.reserve(marked))
            with pytest.raises(Forbidden):
                usage.reserve(_draft(MAPS, "room/a", 3, ChangeType.MODIFIED, b"x"))

    asyncio.run(story())


def test_t6_objects_in_deletion_do_not_grow_without_limit(tmp_path: Path):
    """There is a reserve for the last updates of objects, and not more than that."""

    async def story() -> None:
        async with room(tmp_path, Quota(size=4000)) as there:
            for name in "abcd":
                await there.make(name)
                await there.write(name, "", finalizers=["example.com/hold"])
                await there.drop(name)
            for name in "abc":
                await there.write(name, "x" * 1_000_000, finalizers=["example.com/hold"])
            with pytest.raises(Forbidden, match="exceeded quota"):
                await there.write("d", "x" * 1_000_000, finalizers=["example.com/hold"])
            await there.write("a", "x" * 1_000_000)
            await there.write("d", "")
            assert (there.usage.objects, there.usage.size) == there.truth()

    asyncio.run(story())


_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "change", "remove", "stale"]),
        st.integers(0, 3),
        st.integers(0, 400),
    ),
    max_size=25,
)


@settings(max_examples=depth.examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(_STEPS, st.integers(1, 6), st.integers(500, 3000))
def test_the_account_is_always_right(tmp_path_factory, steps, objects, size):
    """Whatever is written, refused or overtaken: what is counted is there, and within bounds."""

    async def story() -> None:
        directory = tmp_path_factory.mktemp("account")
        async with room(directory, Quota(objects=objects, size=size)) as there:
            for step in steps:
                await _take_step(there, *step)
                assert (there.usage.objects, there.usage.size) == there.truth()
                assert there.usage.objects <= max(objects, 1)

    asyncio.run(story())


_CHANGES = {"add": ChangeType.ADDED, "remove": ChangeType.DELETED}


async def _take_step(there: Room, what: str, which: int, length: int) -> None:
    store, key = there.registry.store, f"{SPACE}/{which}"
    present = store.find(MAPS, key)
    revision = 0 if present is None or what == "add" else present.revision
    draft = _draft(
        MAPS,
        key,
        revision + (what == "stale"),
        _CHANGES.get(what, ChangeType.MODIFIED if present else ChangeType.ADDED),
        b"x" * length,
    )
    try:
        held = there.usage.reserve(draft)
    except Forbidden:
        return
    try:
        await store.write(draft)
    except RevisionConflict:
        return
    finally:
        there.usage.release(held)
