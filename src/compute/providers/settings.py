"""The settings of the simulated machines of a cell, in one ConfigMap.

    startSeconds, stopSeconds   2, 1-5 or exp:3: fixed, uniform, or exponential with that mean
    bootFailureRate             from 0 to 1: the share of attempts to boot that fail
    retrySeconds                until the next attempt, doubled each time
    crashRate                   from 0 to 1: the share of machines that crash repeatedly
    unavailableImages, crashingImages, misconfiguredImages
                                patterns of image names, separated by commas
    nodes                       the number of nodes: node-0, node-1, ...
    lostNodes                   node-1, or node-1/web-* for some of its machines, or *; separated by commas
    recoverySeconds             until the machines of a lost node are started on another

A missing key has its default. If one value is invalid, all earlier settings stay in force: half of a
change could be a combination that was never intended.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

from compute.providers.delays import Delay, parse_delay, parse_number
from kubekit.api import digits
from kubekit.api.kinds.core import ConfigMap
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import ClusterName

NAMESPACE: Final = "compute-system"
NAME: Final = "simulated-provider"
_MOST_NODES: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSettings:
    """How machines behave. Times are seconds."""

    start: Delay = field(default_factory=Delay)
    stop: Delay = field(default_factory=Delay)
    boot_failures: float = 0.0
    retry: float = 5.0
    crashes: float = 0.0
    unavailable_images: tuple[str, ...] = ("*does-not-exist*",)
    crashing_images: tuple[str, ...] = ("*crash*",)
    misconfigured_images: tuple[str, ...] = ("*misconfigured*",)
    nodes: int = 3
    lost: tuple[str, ...] = ()
    recovery: float = 30.0

    def is_lost(self, node: str, machine: str) -> bool:
        """Whether a machine is on a lost node."""
        return any(_matches(each, node, machine) for each in self.lost)


@dataclass(frozen=True, slots=True)
class SettingsFault:
    """A key that cannot be used, and why."""

    key: str
    why: str


def parse(data: Mapping[str, str]) -> MachineSettings | list[SettingsFault]:
    """The settings in the data of a ConfigMap, or all its faults."""
    read: dict[str, Any] = {}
    faults = []
    for key, text in sorted(data.items()):
        known = KEYS.get(key)
        if known is None:
            faults.append(SettingsFault(key, f"no such key; there are {', '.join(sorted(KEYS))}"))
            continue
        name, reader = known
        try:
            read[name] = reader(text.strip())
        except ValueError as error:
            faults.append(SettingsFault(key, str(error)))
    return faults or MachineSettings(**read)


# The cached data of the ConfigMap, the settings in force, and the faults of that data.
_InForce = tuple[bytes | None, MachineSettings, list[SettingsFault]]
_UNREAD: Final[_InForce] = (None, MachineSettings(), [])


class MachineSettingsCache:
    """The settings in force in each cell. They are read again when the ConfigMap changes."""

    def __init__(self) -> None:
        self._read: dict[ClusterName, _InForce] = {}

    def of(self, cell: Cluster) -> MachineSettings:
        """The settings in force in a cell."""
        return self._current(cell)[1]

    async def live(self, cell: Cluster) -> MachineSettings:
        """The settings in force in a cell, read live.

        They stay in force until the cached ConfigMap changes.
        """
        cached = cell.informers.of(ConfigMap).cache.data(NAMESPACE, NAME)
        written = await cell.client.find(ConfigMap, NAME, NAMESPACE)
        return self._apply(cell, cached, written)[1]

    def faults(self, cell: Cluster) -> list[SettingsFault]:
        """The faults of the current ConfigMap."""
        return self._current(cell)[2]

    def _current(self, cell: Cluster) -> _InForce:
        cache = cell.informers.of(ConfigMap).cache
        data = cache.data(NAMESPACE, NAME)
        known = self._read.get(cell.name, _UNREAD)
        return known if data is known[0] else self._apply(cell, data, cache.get(NAMESPACE, NAME))

    def _apply(self, cell: Cluster, cached: bytes | None, written: ConfigMap | None) -> _InForce:
        """Put settings in force if they are valid."""
        parsed = parse(written.data if written else {})
        before = self._read.get(cell.name, _UNREAD)[1]
        applied = (cached, before, parsed) if isinstance(parsed, list) else (cached, parsed, [])
        self._read[cell.name] = applied
        return applied


def is_ours(settings: ConfigMap) -> bool:
    return (settings.metadata.namespace, settings.metadata.name) == (NAMESPACE, NAME)


def _matches(entry: str, node: str, machine: str) -> bool:
    lost, slash, pattern = entry.partition("/")
    return fnmatchcase(node, lost) and (not slash or fnmatchcase(machine, pattern))


def _patterns(text: str) -> tuple[str, ...]:
    return tuple(pattern.strip() for pattern in text.split(",") if pattern.strip())


def _rate(text: str) -> float:
    return parse_number(text, 1.0)


def _count(text: str) -> int:
    if not digits.only(text) or not 1 <= int(text[:6]) <= _MOST_NODES:
        raise ValueError(f"{text!r} is not a whole number from 1 to {_MOST_NODES}")
    return int(text)


KEYS: Final[Mapping[str, tuple[str, Callable[[str], object]]]] = {
    "startSeconds": ("start", parse_delay),
    "stopSeconds": ("stop", parse_delay),
    "bootFailureRate": ("boot_failures", _rate),
    "retrySeconds": ("retry", parse_number),
    "crashRate": ("crashes", _rate),
    "unavailableImages": ("unavailable_images", _patterns),
    "crashingImages": ("crashing_images", _patterns),
    "misconfiguredImages": ("misconfigured_images", _patterns),
    "nodes": ("nodes", _count),
    "lostNodes": ("lost", _patterns),
    "recoverySeconds": ("recovery", parse_number),
}
