"""Scenarios in files: what a user does step by step, and what is expected, on any stage."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from compute.api import annotations
from compute.api.compute import Instance, Workload, WorkloadDeployment
from kubekit.api.meta import Object, ObjectMeta
from tests.support.compute import builders
from tests.support.compute.user_stage import (
    UserStage,
    is_ready,
    reason_of,
    with_image,
    with_replicas,
)

FOLDER = Path(__file__).parents[2] / "scenarios"
_RESTART = "2026-01-02T03:04:05Z"
_LIMIT = 180.0  # seconds for one step, on a machine that has other work


class Expectation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The state that a step waits for."""

    ready: int = 0
    """All of the Workload is served, by so many Instances."""
    instances: Literal["", "kept", "replaced"] = ""
    """What became of those that were there before."""
    reason: str = ""
    """An Instance in each city is not Ready for this reason."""
    gone: bool = False
    """Nothing is left of the Workload, in any plane."""


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that a user does."""

    does: Literal["create", "scale", "restart", "image", "delete"]
    expects: Expectation
    replicas: Annotated[int, msgspec.Meta(ge=1)] = 1
    image: str = ""


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The steps for one Workload."""

    cities: tuple[str, ...]
    steps: tuple[Step, ...]

    @classmethod
    def read(cls, name: str) -> "Scenario":
        """A scenario of the folder."""
        return msgspec.yaml.decode((FOLDER / f"{name}.yaml").read_bytes(), type=cls)


async def play(stage: UserStage, scenario: Scenario, name: str = "web") -> None:
    """Do every step, and wait for what it expects."""
    before: frozenset[str] = frozenset()
    for number, step in enumerate(scenario.steps, 1):
        try:
            await _do(stage, scenario, step, name)
            await _expect(stage, scenario.cities, step.expects, name)
            uids = await _machines(stage, scenario.cities)
            _compare(step.expects, before, uids)
        except AssertionError as failure:
            failure.add_note(f"in step {number}, {step.does}")
            raise
        before = uids


async def _do(stage: UserStage, scenario: Scenario, step: Step, name: str) -> None:
    match step.does:
        case "create":
            placement = builders.placement("home", *scenario.cities, replicas=step.replicas)
            made = builders.workload(name, placement)
            metadata = ObjectMeta(name=name, namespace=stage.namespace)
            await stage.user.create(msgspec.structs.replace(made, metadata=metadata))
        case "scale":
            await stage.edit(name, with_replicas(step.replicas))
        case "restart":
            await stage.edit(name, _restarted)
        case "image":
            await stage.edit(name, with_image(step.image))
        case "delete":
            await stage.user.delete(await stage.user.get(Workload, name, stage.namespace))


async def _expect(
    stage: UserStage, cities: Sequence[str], expectation: Expectation, name: str
) -> None:
    if expectation.ready:
        workload = await stage.served(name, _LIMIT)
        assert workload.status.ready_replicas == expectation.ready
    if expectation.reason:

        async def is_reported() -> bool:
            stuck = [
                each.metadata.name
                for each in await stage.instances_of(name)
                if not is_ready(each) and reason_of(each, "Ready") == expectation.reason
            ]
            return all(any(f"-{city.lower()}-" in one for one in stuck) for city in cities)

        await stage.until(is_reported, _LIMIT, f"{expectation.reason} in every city")
    if expectation.gone:
        await _expect_nothing(stage, cities, name)


async def _expect_nothing(stage: UserStage, cities: Sequence[str], name: str) -> None:
    await stage.until(lambda: _is_gone(stage, name), _LIMIT, f"{name} to be gone")
    space = await stage.hub_namespace()
    for plane in ("hub", *(city.lower() for city in cities)):
        kinds: tuple[type[Object], ...] = (WorkloadDeployment, Instance)
        for kind in kinds:

            async def is_empty(plane: str = plane, kind: type[Object] = kind) -> bool:
                return not (await stage.client(plane).every(kind, space)).items

            await stage.until(is_empty, _LIMIT, f"no {kind.__name__} in {plane}")


async def _is_gone(stage: UserStage, name: str) -> bool:
    found = await stage.user.find(Workload, name, stage.namespace)
    return found is None and not await stage.instances_of(name)


async def _machines(stage: UserStage, cities: Sequence[str]) -> frozenset[str]:
    """The uids of the Instances in the cells: what the user sees is a copy, which may outlive one."""
    space = await stage.hub_namespace()
    listed = [await stage.client(city.lower()).every(Instance, space) for city in cities]
    return frozenset(each.metadata.uid for cell in listed for each in cell.items)


def _compare(expectation: Expectation, before: frozenset[str], after: frozenset[str]) -> None:
    if expectation.instances == "kept":
        assert before <= after or after <= before, "some Instances were replaced"
    if expectation.instances == "replaced":
        assert not before & after, "some Instances were kept"


def _restarted(present: Workload) -> Workload:
    template = present.spec.template
    noted = template.metadata.annotations | {annotations.RESTARTED_AT: _RESTART}
    metadata = msgspec.structs.replace(template.metadata, annotations=noted)
    template = msgspec.structs.replace(template, metadata=metadata)
    spec = msgspec.structs.replace(present.spec, template=template)
    return msgspec.structs.replace(present, spec=spec)
