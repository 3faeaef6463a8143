"""The options of a manager process: its flags and environment variables.

All roles are off by default. `faults` names what cannot work, before anything is connected.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from kubekit.runtime.serving.listen_address import AddressError, parse_listen_address

NETWORKING: Final = "NetworkingIntegration"
_GATES: Final[Mapping[str, bool]] = {NETWORKING: False}
"""The known feature gates, and their defaults."""
_LATER_GATES: Final = (
    "RuntimeClasses", "InstanceTypes", "InstanceConsoleSessions", "InternalDNSPublishing",
)  # fmt: skip
PODS: Final = "pods"
PROVIDERS: Final = ("simulated", PODS)
STAND_INS: Final = ("quota", "networks", "locations", "projects", "entitlements")
_OF_CELLS: Final = frozenset({"networks", "locations"})
"""Stand-ins that write in the cells."""
_TRUTHS: Final[Mapping[str, bool]] = {"true": True, "false": False, "1": True, "0": False}


class BadOption(ValueError):
    """An option that cannot be used. The message names it and the fix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerOptions:
    """What a manager process is to do. ``kubeconfig`` is that of its own cluster."""

    management: bool = False
    cell: bool = False
    provider: str = ""
    pods_allow_root: bool = False
    stand_ins: tuple[str, ...] = ()
    server_config: Path | None = None
    kubeconfig: Path | None = None
    federation_kubeconfig: Path | None = None
    federation_context: str = ""
    cells_kubeconfig: Path | None = None
    city: str = ""
    leader_elect: bool = False
    leader_elect_namespace: str = "compute-system"
    health_probe_bind_address: str = ":8081"
    gates: Mapping[str, bool] = field(default_factory=lambda: _GATES)

    @property
    def networking(self) -> bool:
        return self.gates[NETWORKING]

    @property
    def is_whole(self) -> bool:
        """Whether one cluster is project and cell at once, without a hub between them."""
        return self.management and self.cell and self.federation_kubeconfig is None

    @property
    def roles(self) -> list[str]:
        """The names of the roles that are enabled."""
        enabled = {
            "management": self.management,
            "cell": self.cell,
            f"provider {self.provider}": bool(self.provider),
            "stand-ins": bool(self.stand_ins),
        }
        return [name for name, is_enabled in enabled.items() if is_enabled]


def faults(options: ManagerOptions) -> Iterator[str]:
    """Why these options cannot work together, each in one sentence with the fix."""
    if not options.roles:
        yield (
            "nothing is enabled: give --enable-management-controllers, --enable-cell-controllers, "
            "--provider or --stand-ins"
        )
    yield from _faults_of_values(options)
    if options.management and not options.cell and options.federation_kubeconfig is None:
        yield (
            "--federation-kubeconfig: the management controllers need the hub; name its kubeconfig, "
            "or add --enable-cell-controllers to run everything in one cluster"
        )
    if options.federation_context and options.federation_kubeconfig is None:
        yield "--federation-context: needs --federation-kubeconfig"
    needing = sorted(_OF_CELLS.intersection(options.stand_ins))
    if needing and options.cells_kubeconfig is None and not options.cell:
        yield (
            f"--cells-kubeconfig: the stand-ins {' and '.join(needing)} write in the cells; name a "
            "kubeconfig with a context for each cell, named as its Cluster on the hub"
        )
    if options.stand_ins and options.federation_kubeconfig is None and not options.cell:
        yield "--federation-kubeconfig: the stand-ins read which cells there are on the hub"


def _faults_of_values(options: ManagerOptions) -> Iterator[str]:
    """Values that cannot be used, whatever else is set."""
    try:
        parse_listen_address(options.health_probe_bind_address, "--health-probe-bind-address")
    except AddressError as error:
        yield str(error)
    if options.provider and options.provider not in PROVIDERS:
        yield f"--provider: there is no {options.provider}; {_known(PROVIDERS)}"
    if options.pods_allow_root and options.provider != PODS:
        yield "--pods-allow-root: needs --provider pods"


def parse_gates(text: str) -> Mapping[str, bool]:
    """All feature gates, with those of a text such as ``NetworkingIntegration=true``."""
    gates = dict(_GATES)
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if name in _LATER_GATES:
            raise BadOption(f"--feature-gates: {name} is not supported by this version; remove it")
        if name not in _GATES:
            raise BadOption(f"--feature-gates: there is no {name or part!r}; {_known(_GATES)}")
        if not equals or value.lower() not in _TRUTHS:
            raise BadOption(f"--feature-gates: {part}: write {name}=true or {name}=false")
        gates[name] = _TRUTHS[value.lower()]
    return gates


def parse_stand_ins(text: str) -> tuple[str, ...]:
    """The stand-ins in a list such as ``quota,networks``; ``all`` for every one."""
    names = tuple(dict.fromkeys(filter(None, (name.strip() for name in text.split(",")))))
    if names == ("all",):
        return STAND_INS
    for name in names:
        if name not in STAND_INS:
            near = get_close_matches(name, STAND_INS, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; {_known((*STAND_INS, 'all'))}"
            raise BadOption(f"--stand-ins: there is no {name}{hint}")
    return names


def _known(names: Mapping[str, bool] | tuple[str, ...]) -> str:
    return f"there are {', '.join(names)}" if len(names) > 1 else f"there is {', '.join(names)}"
