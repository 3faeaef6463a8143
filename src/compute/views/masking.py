"""A spec without the values of its environment variables, which may be passwords."""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from compute.api.compute import WorkloadSpec
from compute.api.instance_spec import Container
from kubekit.api.kinds.value_sources import EnvVar

MASK: Final = "(masked)"
CHANGED: Final = "(masked, changed)"

_Values = dict[tuple[str, str], str]  # by container and variable


def masked(spec: WorkloadSpec, before: WorkloadSpec | None = None) -> WorkloadSpec:
    """The spec with its values masked. A value that differs from that ``before`` is marked as changed.

    So a comparison of two masked specs shows which values differ, and none of them.
    """
    runtime = spec.template.spec.runtime
    if runtime.sandbox is None:
        return spec
    known = dict(_values(before)) if before else {}
    containers = tuple(_masked(each, known) for each in runtime.sandbox.containers)
    runtime = replace(runtime, sandbox=replace(runtime.sandbox, containers=containers))
    inner = replace(spec.template.spec, runtime=runtime)
    return replace(spec, template=replace(spec.template, spec=inner))


def _masked(container: Container, known: _Values) -> Container:
    variables = (_without_value(v, known.get((container.name, v.name))) for v in container.env)
    return replace(container, env=tuple(variables))


def _without_value(variable: EnvVar, before: str | None) -> EnvVar:
    if not variable.value:
        return variable
    is_same = before in {None, variable.value}
    return replace(variable, value=MASK if is_same else CHANGED)


def _values(spec: WorkloadSpec) -> Iterator[tuple[tuple[str, str], str]]:
    sandbox = spec.template.spec.runtime.sandbox
    for container in sandbox.containers if sandbox else ():
        for variable in container.env:
            yield (container.name, variable.name), variable.value
