"""What the machines of a cell do, as its operators set it, at any time, in one ConfigMap.

    startSeconds, stopSeconds   2, 1-5 or exp:3: fixed, uniform, or exponential with that mean
    bootFailureRate             from 0 to 1: how many attempts to boot fail
    retrySeconds                until the next attempt, twice as long each time
    crashRate                   from 0 to 1: how many machines crash over and over
    unavailableImages, crashingImages, misconfiguredImages
                                patterns of image names, set apart by commas
    nodes                       how many nodes there are: node-0, node-1, ...
    lostNodes                   node-1, or node-1/web-* for some of its machines, or *, by commas
    recoverySeconds             until the machines of a lost node are started on another

What is absent has its default. One bad value, and what was set before stays in force, all of it: half
of a change could be what nobody ever wanted.
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
        """Whether a machine is among those of a lost node."""
        return any(_is_meant(each, node, machine) for each in self.lost)


@dataclass(frozen=True, slots=True)
class SettingsFault:
    """A key that cannot be used, and why."""

    key: str
    why: str


def parse(data: Mapping[str, str]) -> MachineSettings | list[SettingsFault]:
    """The settings that a ConfigMap's data names, or everything that is wrong with it."""
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


_InForce = tuple[
    bytes | None, MachineSettings, list[SettingsFault]
]  # the first is what the cache showed then
_UNREAD: Final[_InForce] = (None, MachineSettings(), [])


class MachineSettingsCache:
    """The settings in force in each cell. They are read when the ConfigMap is another than before."""

    def __init__(self) -> None:
        self._read: dict[ClusterName, _InForce] = {}

    def of(self, cell: Cluster) -> MachineSettings:
        """What holds in a cell now."""
        return self._current(cell)[1]

    async def asked(self, cell: Cluster) -> MachineSettings:
        """What holds in a cell now, though its cache may not show it yet.

        It is kept until the cache shows something else than it does now.
        """
        cached = cell.informers.of(ConfigMap).cache.data(NAMESPACE, NAME)
        written = await cell.client.find(ConfigMap, NAME, NAMESPACE)
        return self._take(cell, cached, written)[1]

    def faults(self, cell: Cluster) -> list[SettingsFault]:
        """What is wrong with what its operators wrote last."""
        return self._current(cell)[2]

    def _current(self, cell: Cluster) -> _InForce:
        cache = cell.informers.of(ConfigMap).cache
        data = cache.data(NAMESPACE, NAME)
        known = self._read.get(cell.name, _UNREAD)
        return known if data is known[0] else self._take(cell, data, cache.get(NAMESPACE, NAME))

    def _take(self, cell: Cluster, cached: bytes | None, written: ConfigMap | None) -> _InForce:
        """Let it hold, if it can be used."""
        parsed = parse(written.data if written else {})
        before = self._read.get(cell.name, _UNREAD)[1]
        taken = (cached, before, parsed) if isinstance(parsed, list) else (cached, parsed, [])
        self._read[cell.name] = taken
        return taken


def is_ours(settings: ConfigMap) -> bool:
    return (settings.metadata.namespace, settings.metadata.name) == (NAMESPACE, NAME)


def _is_meant(entry: str, node: str, machine: str) -> bool:
    place, slash, pattern = entry.partition("/")
    return fnmatchcase(node, place) and (not slash or fnmatchcase(machine, pattern))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _rate(text: str) -> float:
    return parse_number(text, 1.0)


def _count(text: str) -> int:
    if not digits.only(text) or not 1 <= int(text[:6]) <= _MOST_NODES:
        raise ValueError(f"{text!r} is no whole number from 1 to {_MOST_NODES}")
    return int(text)


KEYS: Final[Mapping[str, tuple[str, Callable[[str], object]]]] = {
    "startSeconds": ("start", parse_delay),
    "stopSeconds": ("stop", parse_delay),
    "bootFailureRate": ("boot_failures", _rate),
    "retrySeconds": ("retry", parse_number),
    "crashRate": ("crashes", _rate),
    "unavailableImages": ("unavailable_images", _words),
    "crashingImages": ("crashing_images", _words),
    "misconfiguredImages": ("misconfigured_images", _words),
    "nodes": ("nodes", _count),
    "lostNodes": ("lost", _words),
    "recoverySeconds": ("recovery", parse_number),
}
