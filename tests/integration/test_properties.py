"""Every property of a Workload's spec is changed, emptied, removed and set back.

Where that is refused the refusal names the field, and nothing changes. Where it is taken, all planes
come to what they would be had the Workload been created so.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from compute.api.compute import Workload
from kubekit.api.errors import Invalid
from kubekit.client.options import PLAIN_WRITE, PatchType
from kubekit.client.transport import Document, ResourceLocation
from tests.integration.apart import run_story_apart
from tests.integration.operators import make_network
from tests.integration.worlds import Watched
from tests.support.compute.end_states import State, about, compared, differences
from tests.support.generated.property_specs import Spec
from tests.support.generated.property_walks import (
    STAGES,
    Walk,
    properties,
    reserved,
    reserved_properties,
    walks,
)

CITIES = ("DFW", "LHR")
HOSTS = 8  # Workloads that are walked at the same time
SECTIONS = {
    "placements": "placements",
    "template": "template",
    "networks": "template.spec.networkInterfaces",
    "runtime": "template.spec.runtime",
    "containers": "template.spec.runtime.sandbox.containers[]",
    "environment": "template.spec.runtime.sandbox.containers[].env",
    "sources": "template.spec.runtime.sandbox.containers[].env[].valueFrom",
    "volumes": "template.spec.volumes",
    "disks": "template.spec.volumes[].disk",
}


@dataclass
class Taken:
    """What was taken of the stages of some walks, and what came of it."""

    specs: dict[str, Spec] = field(default_factory=dict)  # as stored, by walk and stage
    states: dict[str, State] = field(default_factory=dict)
    starts: dict[str, Spec] = field(default_factory=dict)  # by the name of a Workload
    end: State = field(default_factory=dict)  # of everything, after all was set back


def section_of(path: str) -> str:
    """The section of a property: the one that says most of where it is."""
    found = [name for name, start in SECTIONS.items() if path.startswith(start)]
    return max(found, key=lambda name: len(SECTIONS[name]))


def test_every_property_of_the_schema_is_walked():
    """A property that is new to the schema fails here until it has two values, or is reserved."""
    walked = {walk.path for walk in walks()}
    assert walked | reserved_properties() == set(properties())
    assert not walked & reserved_properties()
    assert [w.path for w in walks() if w.spec("changed") == w.start] == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("section", SECTIONS)
def test_a_property_that_is_changed_and_set_back_leaves_no_trace(section):
    """At every stage all planes are as if the Workload had been created with the spec it has then."""
    mine = [walk for walk in walks() if section_of(walk.path) == section]
    taken = Taken()

    async def walked(world: Watched) -> None:
        await start(world)
        await walk_all(world, mine, taken)

    async def made(world: Watched) -> None:
        await start(world)
        await make(world, taken.starts)
        assert differences(taken.end, compared(world)) == []

    async def made_so(world: Watched) -> None:
        await start(world)
        texts = {stage: json.dumps(spec) for stage, spec in taken.specs.items()}
        names = {text: f"w{number:03}" for number, text in enumerate(dict.fromkeys(texts.values()))}
        await make(world, {name: json.loads(text) for text, name in names.items()})
        states = about(names.values(), compared(world))
        wrong = {
            stage: differences(taken.states[stage], states[names[text]])
            for stage, text in texts.items()
        }
        assert {stage: lines for stage, lines in wrong.items() if lines} == {}

    for story in (walked, made, made_so):
        run_story_apart(story, CITIES)
    assert any(stage.endswith("changed") for stage in taken.specs)


def test_what_is_reserved_cannot_be_added():
    """Neither what controllers report nor fields without a reader get into a spec."""

    async def story(world: Watched) -> None:
        await start(world)
        for walk in reserved():
            with pytest.raises(Invalid) as refusal:
                await create(world, "web", walk.spec("changed"))
            assert walk.is_named(refusal.value)

    run_story_apart(story, CITIES)


async def start(world: Watched) -> None:
    await make_network(world, "second", "172.16.0.0/12")
    await world.limit(1000)


async def walk_all(world: Watched, mine: Sequence[Walk], taken: Taken) -> None:
    """Walk all of these, some at a time, and leave everything as it was."""
    rounds = _rounds(mine)
    taken.starts = {name: walk.start for each in rounds for name, walk in each.items()}
    await make(world, taken.starts)
    for each in rounds:
        for stage in STAGES:
            await walk_stage(world, each, stage, taken)
    taken.end = compared(world)


async def walk_stage(world: Watched, walkers: Mapping[str, Walk], stage: str, taken: Taken) -> None:
    """One stage of some walks, each in a Workload of its own."""
    accepted = [name for name, walk in walkers.items() if await attempt(world, name, walk, stage)]
    await world.rest()
    states = about(accepted, compared(world)) if accepted else {}
    for name in accepted:
        await world.served(name, seconds=0.0)
        if stage != "back":
            title = f"{walkers[name].path} {stage}"
            taken.specs[title] = (await stored(world, name))["spec"]
            taken.states[title] = states[name]


async def attempt(world: Watched, name: str, walk: Walk, stage: str) -> bool:
    """Whether a stage is taken; if not, the field is named and the Workload is what it was."""
    before = await stored(world, name)
    refusal = await put(world, name, walk.spec(stage))
    if refusal is None:
        assert stage != "mistyped", walk.path
        return True
    assert stage != "back", refusal
    assert walk.is_named(refusal), f"{walk.path} {stage}: {refusal}"
    assert await stored(world, name) == before
    return False


async def put(world: Watched, name: str, spec: Spec) -> Invalid | None:
    """Give a Workload this spec; or why it cannot have it."""
    change = [{"op": "replace", "path": "/spec", "value": spec}]
    place = ResourceLocation(Workload.RESOURCE, "default", name)
    try:
        await world.user.raw.patch(place, PatchType.JSON, change, PLAIN_WRITE)
    except Invalid as refusal:
        return refusal
    return None


async def make(world: Watched, specs: Mapping[str, Spec]) -> None:
    """Workloads with these specs, served."""
    for name, spec in specs.items():
        await create(world, name, spec)
    await world.rest()
    for name in specs:
        await world.served(name, seconds=0.0)


async def create(world: Watched, name: str, spec: Spec) -> None:
    document = {
        "apiVersion": Workload.RESOURCE.api_version,
        "kind": Workload.RESOURCE.kind,
        "metadata": {"name": name},
        "spec": json.loads(json.dumps(spec)),
    }
    await world.user.raw.create(
        ResourceLocation(Workload.RESOURCE, "default"), document, PLAIN_WRITE
    )


async def stored(world: Watched, name: str) -> Document:
    return await world.user.raw.get(ResourceLocation(Workload.RESOURCE, "default", name))


def _rounds(mine: Sequence[Walk]) -> list[dict[str, Walk]]:
    """Walks by the name of the Workload that walks them, so many at a time, of one kind of spec."""
    starts = [json.dumps(walk.start) for walk in mine]
    kinds = [
        [w for w, start in zip(mine, starts, strict=True) if start == kind]
        for kind in dict.fromkeys(starts)
    ]
    return [
        {f"w{kind}{number:02}": walk for number, walk in enumerate(alike[first : first + HOSTS])}
        for kind, alike in enumerate(kinds)
        for first in range(0, len(alike), HOSTS)
    ]
