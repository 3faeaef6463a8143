"""New images of single containers; everything else of a Workload stays as it is."""

from collections.abc import Mapping

from msgspec.structs import replace

from compute.api.compute import Workload
from compute.decide.overrides import pruned
from compute.decide.workload_edits.containers import APP
from kubekit.api.meta import with_spec


class UnknownContainer(ValueError):
    """A container that the Workload does not have, or none is named where there are several."""

    def __init__(self, container: str, known: tuple[str, ...]) -> None:
        super().__init__(container)
        self.container = container  # empty where none is named
        self.known = known


def images(workload: Workload) -> dict[str, str]:
    """The image of each container, by its name; empty for a virtual machine."""
    sandbox = workload.spec.template.spec.runtime.sandbox
    return {each.name: each.image for each in sandbox.containers} if sandbox else {}


def with_images(workload: Workload, wanted: Mapping[str, str]) -> Workload:
    """The Workload with these images, by container. An empty name is its only container, or ``app``."""
    runtime = workload.spec.template.spec.runtime
    known = tuple(images(workload))
    chosen = {_container(name, known): image for name, image in wanted.items()}
    assert runtime.sandbox is not None  # it has containers
    containers = tuple(
        replace(each, image=chosen.get(each.name, each.image))
        for each in runtime.sandbox.containers
    )
    if containers == runtime.sandbox.containers:
        return workload
    sandbox = replace(runtime.sandbox, containers=containers)
    template = workload.spec.template
    spec = replace(template.spec, runtime=replace(runtime, sandbox=sandbox))
    return pruned(with_spec(workload, template=replace(template, spec=spec)))


def _container(name: str, known: tuple[str, ...]) -> str:
    if name in known:
        return name
    if not name and len(known) == 1:
        return known[0]
    if not name and APP in known:
        return APP
    raise UnknownContainer(name, known)
