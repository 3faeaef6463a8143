"""An Instance whose spec is changed by hand in its cell."""

import msgspec

from compute.api.compute import Instance
from kubekit.api.kinds.events import Event
from tests.integration.worlds import Watched, is_ready, run_story, workload


def with_image(instance: Instance, image: str) -> Instance:
    """The Instance with another image, as `kubectl edit` writes it."""
    runtime = instance.spec.runtime
    sandbox = runtime.sandbox
    assert sandbox is not None
    (container,) = sandbox.containers
    containers = (msgspec.structs.replace(container, image=image),)
    sandbox = msgspec.structs.replace(sandbox, containers=containers)
    runtime = msgspec.structs.replace(runtime, sandbox=sandbox)
    spec = msgspec.structs.replace(instance.spec, runtime=runtime)
    return msgspec.structs.replace(instance, spec=spec)


def test_an_instance_that_is_edited_in_its_cell_is_put_back_and_the_edit_reported():
    """The same Instance serves all the while; an event names the field; then all is at rest."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW",), replicas=2))
        cell, space = world.client("dfw"), await world.space()
        before = await cell.get(Instance, "web-home-dfw-0", space)
        await cell.patch(before, with_image(before, "registry.test/other:1"))
        after = await world.named(
            "dfw", Instance, "web-home-dfw-0", space, lambda i: i.spec == before.spec
        )
        assert (after.metadata.uid, is_ready(after)) == (before.metadata.uid, True)
        assert after.metadata.generation == before.metadata.generation + 2
        await world.rest()
        assert await world.quiet() == []
        notes = [e for e in (await cell.every(Event)).items if e.reason == "InstanceEdited"]
        assert [note.regarding.name for note in notes if note.regarding] == ["web-home-dfw-0"]
        assert notes[0].type == "Warning"
        assert notes[0].note.startswith("spec.runtime.sandbox.containers[app].image was changed")
        await world.served("web")

    run_story(story, cities=("DFW",))
