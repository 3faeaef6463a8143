"""Pauses, restarts and pins of single cities, and replacements of single Instances."""

from collections.abc import Callable

from compute.api import names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.conditions import ConditionType
from compute.api.instance_spec import InstanceTemplate
from compute.api.quota import ResourceClaim
from compute.decide import joins, overrides
from compute.decide.conditions import find
from compute.decide.deployment.template import recorded_hash
from compute.decide.overrides import CityTemplates
from compute.decide.workload import history
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.kinds.events import Event
from kubekit.api.meta import with_spec
from tests.integration.worlds import (
    PROJECT,
    Watched,
    is_ready,
    message_of,
    run_story,
    with_image,
    workload,
)
from tests.support.compute import builders
from tests.support.compute.builders import NOW

FIRST, SECOND = "registry.test/web:1", "registry.test/web:2"


async def _rest(world: Watched) -> dict[str, tuple[str, ...]]:
    """The images by city at rest, of which every Instance is Ready and has its city's template."""
    await world.rest()
    present = await world.user.get(Workload, "web", "default")
    templates, images = CityTemplates(present), dict[str, list[str]]()
    for each in (await world.user.every(Instance)).items:
        _, city = joins.placement_city(await _deployment(world, joins.deployment_name(each)))
        assert is_ready(each)
        held_back = overrides.is_paused(present, city)
        assert held_back or recorded_hash(each) == templates.hash_of(city)
        sandbox = each.spec.runtime.sandbox
        assert sandbox
        images.setdefault(city, []).append(sandbox.containers[0].image)
    return {city: tuple(images[city]) for city in sorted(images)}


async def _deployment(world: Watched, name: str) -> WorkloadDeployment:
    return await world.user.get(WorkloadDeployment, name, "default")


async def _uids(world: Watched) -> dict[str, str]:
    """The uids of the Instances in their cells."""
    cells = [world.client(cell) for cell in ("dfw", "lhr")]
    return {
        each.metadata.name: each.metadata.uid
        for cell in cells
        for each in (await cell.every(Instance)).items
    }


async def _claims(world: Watched) -> dict[str, str]:
    return {c.metadata.name: c.metadata.uid for c in (await world.user.every(ResourceClaim)).items}


async def _revisions(world: Watched) -> list[int]:
    kept = await world.user.get(ConfigMap, names.history("web"), "default")
    return [each.rev for each in history.revisions(kept)]


def _pinned(city: str, template: InstanceTemplate) -> Callable[[Workload], Workload]:
    return lambda present: overrides.pinned(present, {city: (1, template)})


def _different(before: dict[str, str], after: dict[str, str]) -> list[str]:
    assert before.keys() == after.keys()
    return sorted(name for name in after if after[name] != before[name])


def test_a_paused_city_stays_while_the_others_roll_and_rolls_when_it_is_resumed():
    """The Workload reports where it is paused, and an event each pause and its end."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR"), replicas=2))
        before = await _uids(world)
        await world.change("web", lambda w: overrides.paused(w, ("LHR",)))
        await world.change("web", with_image(SECOND))
        assert await _rest(world) == {"DFW": (SECOND, SECOND), "LHR": (FIRST, FIRST)}
        held = await world.user.get(Workload, "web", "default")
        assert message_of(held, ConditionType.PAUSED) == (
            "paused in LHR: template changes are held back there until resumed"
        )
        assert _different(before, await _uids(world)) == ["web-home-dfw-0", "web-home-dfw-1"]
        await world.change("web", lambda w: overrides.resumed(w, ("LHR",)))
        await world.served("web")
        assert await _rest(world) == {"DFW": (SECOND, SECOND), "LHR": (SECOND, SECOND)}
        ended = await world.user.get(Workload, "web", "default")
        assert find(ended.status.conditions, ConditionType.PAUSED) is None
        events = [e for e in (await world.user.every(Event)).items if e.action == "Pause"]
        assert sorted((e.reason, e.note) for e in events) == [
            ("Paused", "Paused in LHR: template changes are held back there until resumed"),
            ("Resumed", "No city is paused any more: template changes are applied"),
        ]

    run_story(story, ("DFW", "LHR"))


def test_a_restart_of_a_city_replaces_its_instances_alone():
    """It is no new revision, the quota stays claimed, and a restart of all afterwards restarts all."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR"), replicas=2))
        before, claims = await _uids(world), await _claims(world)
        await world.change("web", lambda w: overrides.restarted(w, ("LHR",), NOW))
        assert await _rest(world) == {"DFW": (FIRST, FIRST), "LHR": (FIRST, FIRST)}
        after = await _uids(world)
        assert _different(before, after) == ["web-home-lhr-0", "web-home-lhr-1"]
        assert await _claims(world) == claims
        assert await _revisions(world) == [1]
        await world.change("web", lambda w: overrides.restarted(w, (), NOW))
        await world.served("web")
        assert len(_different(after, await _uids(world))) == 4

    run_story(story, ("DFW", "LHR"))


def test_a_pinned_city_keeps_the_earlier_template_until_the_next_change():
    """The pin is not written by any controller, so none reverts it, and nothing writes at rest."""

    async def story(world: Watched) -> None:
        first = (await world.deploy(workload(cities=("DFW", "LHR")))).spec.template
        await world.change("web", with_image(SECOND))
        await world.served("web")
        before = await _uids(world)
        await world.change("web", _pinned("LHR", first))
        assert await _rest(world) == {"DFW": (SECOND,), "LHR": (FIRST,)}
        assert _different(before, await _uids(world)) == ["web-home-lhr-0"]
        assert [each for each in await world.quiet() if not each[1].endswith("/events")] == []
        await world.change("web", lambda w: overrides.restarted(w, (), NOW))
        assert await _rest(world) == {"DFW": (SECOND,), "LHR": (FIRST,)}
        await world.change("web", with_image("registry.test/web:3"))
        await world.served("web")
        third = ("registry.test/web:3",)
        assert await _rest(world) == {"DFW": third, "LHR": third}

    run_story(story, ("DFW", "LHR"))


def test_a_single_instance_is_replaced_in_its_slot():
    """Once, by one of the same name and template, and with the claim that it had; also during a pause."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR"), replicas=2))
        before, claims = await _uids(world), await _claims(world)
        await world.change("web", lambda w: overrides.replaced(w, ("web-home-lhr-0",), NOW))
        assert await _rest(world) == {"DFW": (FIRST, FIRST), "LHR": (FIRST, FIRST)}
        once = await _uids(world)
        assert _different(before, once) == ["web-home-lhr-0"]
        await world.change("web", overrides.paused)
        await world.change("web", with_image(SECOND))
        await world.change("web", lambda w: overrides.replaced(w, ("web-home-lhr-0",), NOW))
        assert await _rest(world) == {"DFW": (FIRST, FIRST), "LHR": (FIRST, FIRST)}
        assert _different(once, await _uids(world)) == ["web-home-lhr-0"]
        assert await _claims(world) == claims
        shown = await world.user.get(Instance, "web-home-lhr-0", "default")
        assert list(shown.metadata.annotations.values()) == ["2026-06-01T12:00:01Z"]

    run_story(story, ("DFW", "LHR"))


def test_a_city_with_a_setting_of_its_own_can_leave_and_return():
    """What is set for it neither keeps it nor is lost: only a client removes it."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR")))
        await world.change("web", lambda w: overrides.paused(w, ("LHR",)))
        await world.change("web", _pinned("LHR", builders.template(SECOND)))
        assert await _rest(world) == {"DFW": (FIRST,), "LHR": (FIRST,)}
        await world.change("web", lambda w: workload_in(w, "DFW"))
        assert await _rest(world) == {"DFW": (FIRST,)}
        assert await world.left(Instance) == {
            plane: ["Instance web-home-dfw-0"] for plane in (PROJECT, "hub", "dfw")
        }
        await world.change("web", lambda w: workload_in(w, "DFW", "LHR"))
        assert await _rest(world) == {"DFW": (FIRST,), "LHR": (SECOND,)}

    run_story(story, ("DFW", "LHR"))


def workload_in(present: Workload, *cities: str) -> Workload:
    """The Workload in these cities."""
    return with_spec(present, placements=workload(cities=cities).spec.placements)
