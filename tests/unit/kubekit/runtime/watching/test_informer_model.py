"""Whatever is written and whatever fails, handlers get a consistent history of each object."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings, strategies as st

from kubekit.api.kinds.core import ConfigMap
from kubekit.runtime.watching.changes import CacheChange
from tests.support.generated import depth
from tests.support.generated.following_strategies import answers, plans, steps, take
from tests.support.kubekit.informer_builders import InformerWorld, run_in_world


class Mirror:
    """A handler that checks each change against earlier ones, and records errors."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], Any] = {}
        self.wrong: list[CacheChange[Any]] = []

    def __call__(self, change: CacheChange[Any]) -> None:
        known = self.objects.pop((change.namespace, change.name), None)
        if change.old != known or not self._goes_on(change.old, change.new):
            self.wrong.append(change)
        if change.new is not None:
            self.objects[change.namespace, change.name] = change.new

    def _goes_on(self, old: ConfigMap | None, new: ConfigMap | None) -> bool:
        """Whether it is the same object, and later."""
        if old is None or new is None:
            return old is not new
        before, after = old.metadata, new.metadata
        later = int(before.resource_version) < int(after.resource_version)
        return later and before.uid == after.uid


@settings(max_examples=depth.examples(30), suppress_health_check=[HealthCheck.too_slow])
@given(
    started=st.lists(steps, max_size=6),
    then=st.lists(steps, max_size=20),
    cuts=st.lists(plans, max_size=6),
    refused=st.lists(answers, max_size=4),
)
def test_listeners_and_cache_end_at_the_truth(started, then, cuts, refused):
    """Each change goes on from the last one, for early and late listeners; in the end all is true."""

    async def story(world: InformerWorld) -> None:
        early, late = Mirror(), Mirror()
        for step in started:
            await take(world, step)
        world.transport.watches.extend(cuts)
        world.transport.lists.extend(refused)
        async with world.informer() as informer:
            informer.listen(early)
            for step in then:
                await take(world, step)
            informer.listen(late)
            await asyncio.sleep(7200)
            present = (await world.writer.every(ConfigMap)).items
            assert informer.cache.list() == [bare(obj) for obj in present]
            held = {(o.metadata.namespace, o.metadata.name): o for o in informer.cache.list()}
            assert early.objects == late.objects == held
            assert early.wrong == late.wrong == []
            assert informer.problem == ""

    with TemporaryDirectory() as directory:
        run_in_world(Path(directory), story)


def bare(obj: ConfigMap) -> ConfigMap:
    """The object as a cache keeps it."""
    metadata = msgspec.structs.replace(obj.metadata, managed_fields=())
    return msgspec.structs.replace(obj, metadata=metadata)
