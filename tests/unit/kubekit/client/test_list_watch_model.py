"""The law of following: whatever is written and whatever fails, in the end the picture is true."""

import asyncio
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings, strategies as st

from kubekit.api.kinds.core import ConfigMap
from kubekit.client.options import ListOptions
from tests.support.generated import depth
from tests.support.generated.following_strategies import answers, plans, steps, take
from tests.support.kubekit.following_builders import World, run_in_world


@settings(max_examples=depth.examples(40), suppress_health_check=[HealthCheck.too_slow])
@given(
    before=st.lists(steps, max_size=6),
    then=st.lists(steps, max_size=25),
    cuts=st.lists(plans, max_size=6),
    refused=st.lists(answers, max_size=5),
)
def test_in_the_end_the_picture_is_true(before, then, cuts, refused):
    """It equals the plane once nothing fails any more; and no object ever went back in time."""

    async def story(world: World) -> None:
        for step in before:
            await take(world, step)
        world.transport.watches.extend(cuts)
        world.transport.lists.extend(refused)
        async with world.following(ListOptions(limit=2)) as picture:
            for step in then:
                await take(world, step)
            await asyncio.sleep(7200)
            present = await world.writer.every(ConfigMap, "default")
            expected = {(o.metadata.namespace, o.metadata.name): o for o in present.items}
            assert picture.objects == expected
            assert world.troubles[-1:] in ([], [None])
        for versions in picture.versions.values():
            assert all(before <= after for before, after in pairwise(versions))

    with TemporaryDirectory() as directory:
        run_in_world(Path(directory), story)
