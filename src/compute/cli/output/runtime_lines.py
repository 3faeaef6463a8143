"""What a template runs, as lines of a description."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from compute.cli.output.sections import header, rows, section, words
from compute.views.details.runtimes import (
    ContainerView,
    MountView,
    PortView,
    RuntimeView,
    VariableView,
)

_HIDDEN: Final = "(hidden; --show-values shows it)"


def runtime_lines(runtime: RuntimeView, *, networks: bool = True) -> list[str]:
    """The containers or the machine, the volumes and the networks, each as a part of its own."""
    lines: list[str] = []
    for container in runtime.containers:
        lines += section(f"Container {container.name}", _container(container))
    if not runtime.containers:
        machine = header([("Ports", _ports(runtime.ports)), ("Disks", _mounts(runtime.mounts))])
        lines += section("Virtual machine", machine)
    volumes = [(volume.name, volume.source) for volume in runtime.volumes]
    return [
        *lines,
        *section("Volumes", rows(volumes)),
        *section("Networks", words(runtime.networks if networks else ())),
        *section("Secrets for private registries", words(runtime.pull_secrets)),
    ]


def _container(container: ContainerView) -> list[str]:
    lines = header(
        [
            ("Image", container.image),
            ("Command", shlex.join(container.command)),
            ("Args", shlex.join(container.args)),
            ("Ports", _ports(container.ports)),
            ("Mounts", _mounts(container.mounts)),
        ]
    )
    return [*lines, *_environment(container.variables)]


def _environment(variables: Sequence[VariableView]) -> Iterator[str]:
    if variables:
        yield "Environment"
        yield from (f"  {line}" for line in rows([(v.name, _value(v)) for v in variables]))


def _value(variable: VariableView) -> str:
    if variable.source:
        return f"from {variable.source}"
    return _HIDDEN if variable.masked else f"= {variable.value}"


def _ports(ports: Iterable[PortView]) -> str:
    return ", ".join(f"{port.name} {port.port}/{port.protocol}" for port in ports)


def _mounts(mounts: Iterable[MountView]) -> str:
    return ", ".join(
        f"{mount.volume} at {mount.path}" if mount.path else mount.volume for mount in mounts
    )
