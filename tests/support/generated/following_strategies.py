"""Random histories of writes and failures, for property tests of followers and informers."""

import asyncio
from typing import Protocol

from hypothesis import strategies as st

from kubekit.api.errors import Expired, Unavailable
from kubekit.api.kinds.core import ConfigMap
from kubekit.plane.local import LocalClient
from tests.support.kubekit.following_builders import Answer, Plan, config


class Writable(Protocol):
    """A world that can be written to, and whose log can be compacted."""

    writer: LocalClient

    async def change(self, obj: ConfigMap, **data: str) -> ConfigMap: ...

    async def forget(self) -> None: ...


NAMES = ("a", "b", "c", "d", "e")
GONE = Expired("too old resource version")
DOWN = Unavailable("down")

plans = st.builds(
    Plan,
    refusal=st.sampled_from([None, None, None, GONE, DOWN, OSError("reset")]),
    silent=st.sampled_from([False, False, False, True]),
    doubled=st.booleans(),
    cut_after=st.integers(0, 4),
    error=st.sampled_from([None, GONE, DOWN]),
)
answers = st.builds(
    Answer,
    refusal=st.sampled_from([None, None, GONE, DOWN]),
    hangs=st.sampled_from([False] * 4 + [True]),
)
steps = st.one_of(
    st.tuples(st.sampled_from(("create", "change", "delete")), st.sampled_from(NAMES)),
    st.tuples(st.just("wait"), st.sampled_from((0.0, 0.3, 5.0, 90.0, 400.0))),
    st.tuples(st.just("forget"), st.none()),
)


async def take(world: Writable, step: tuple[str, object]) -> None:
    match step:
        case "wait", float(seconds):
            await asyncio.sleep(seconds)
        case "forget", _:
            await world.forget()
        case verb, name:
            await write(world, verb, str(name))


async def write(world: Writable, verb: str, name: str) -> None:
    """Apply the step, if it is possible."""
    present = await world.writer.find(ConfigMap, name, "default")
    if verb == "create" and present is None:
        await world.writer.create(config(name))
    elif verb == "delete" and present is not None:
        await world.writer.delete(present)
    elif verb == "change" and present is not None:
        await world.change(present, count=f"{len(present.data.get('count', ''))}x")
