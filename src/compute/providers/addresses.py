"""Addresses for machines: each is the lowest free address in the Subnet of its network.

The addresses in use are known from the statuses of the cached Instances. A new address is reserved
for its Instance until the status shows it, or until the Instance is gone.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from compute.api.compute import Instance
from compute.decide.networking.addresses import Prefix, address_of, hosts
from kubekit.runtime.clusters import Cluster
from kubekit.runtime.requests import ClusterName
from kubekit.runtime.watching.cache import Cache
from kubekit.runtime.watching.changes import CacheChange
from kubekit.runtime.watching.index import Key

_ADDRESS: Final = "simulated: address"
Held = tuple[str, int]  # network, and the address as a number
Slot = tuple[str, int]  # network, and the position of the interface


def holders(cache: Cache[Instance], namespace: str, held: Held) -> list[Instance]:
    """The Instances that have an address, by their statuses. There should be one at most."""
    cache.add_index(_ADDRESS, _values)
    return cache.by(_ADDRESS, _value(namespace, held))


def held_by(instance: Instance) -> Iterator[Held]:
    """The addresses that the status of an Instance shows."""
    interfaces = instance.spec.network_interfaces
    for interface, status in zip(interfaces, instance.status.network_interfaces, strict=False):
        address = address_of(status.assignments.network_ip)
        if address is not None:
            yield interface.network.name, int(address)


class Addresses:
    """The addresses of every engaged cell."""

    def __init__(self) -> None:
        self._cells: dict[ClusterName, _Cell] = {}
        self._unsubscribe: dict[ClusterName, Callable[[], None]] = {}

    def engage(self, cluster: Cluster) -> None:
        informer = cluster.informers.of(Instance)
        cell = self._cells[cluster.name] = _Cell(informer.cache)
        self._unsubscribe[cluster.name] = informer.listen(cell.observe)

    def disengage(self, cluster: Cluster) -> None:
        self._unsubscribe.pop(cluster.name)()
        del self._cells[cluster.name]

    def take(self, cell: ClusterName, holder: Key, slot: Slot, prefix: Prefix) -> str | None:
        """A free address of a prefix, reserved for the holder's interface; None if there is none."""
        number = self._cells[cell].take(holder, slot, prefix)
        return None if number is None else str(prefix[number - int(prefix.network_address)])


class _Cell:
    """The addresses in use in one cell."""

    def __init__(self, cache: Cache[Instance]) -> None:
        self._cache = cache
        self._pools: dict[tuple[str, str], _Pool] = {}  # by namespace and network
        self._reported: dict[Key, tuple[Held, ...]] = {}  # by the statuses
        self._reserved: dict[Key, dict[Slot, int]] = {}  # taken, and not in a status yet

    def observe(self, changed: CacheChange[Instance]) -> None:
        key = changed.namespace, changed.name
        new = changed.new
        reported = () if new is None else tuple(held_by(new))
        if new is None or reported:
            reserved = self._reserved.pop(key, {})
            self._drop(key, [(slot[0], number) for slot, number in reserved.items()], reported)
        if reported == self._reported.get(key, ()):
            return
        for network, number in reported:
            self._pool(key, network).note(number, key)
        self._drop(key, self._reported.pop(key, ()), reported)
        if reported:
            self._reported[key] = reported

    def take(self, key: Key, slot: Slot, prefix: Prefix) -> int | None:
        reserved = self._reserved.setdefault(key, {})
        present = reserved.get(slot)
        if present is not None and present in hosts(prefix):
            return present
        network = slot[0]
        pool = self._pool(key, network)
        while (number := pool.take(prefix)) is not None:
            others = holders(self._cache, key[0], (network, number))
            if not others:
                pool.note(number, key)
                reserved[slot] = number
                return number
            pool.note(number, (key[0], others[0].metadata.name))
        return None

    def _drop(self, key: Key, held: Iterable[Held], unless: tuple[Held, ...]) -> None:
        for each in held:
            if each not in unless:
                self._pool(key, each[0]).free(each[1], key)

    def _pool(self, key: Key, network: str) -> "_Pool":
        return self._pools.setdefault((key[0], network), _Pool())


class _Pool:
    """The addresses of one network. The cost of taking or freeing one does not depend on their number."""

    def __init__(self) -> None:
        self._holders: dict[int, Key] = {}
        self._ranges: dict[Prefix, _Range] = {}

    def note(self, number: int, holder: Key) -> None:
        self._holders.setdefault(number, holder)

    def free(self, number: int, holder: Key) -> None:
        if self._holders.get(number) == holder:
            del self._holders[number]
            for within in self._ranges.values():
                within.free(number)

    def take(self, prefix: Prefix) -> int | None:
        """The lowest address without a known holder."""
        within = self._ranges.setdefault(prefix, _Range(prefix))
        return next((number for number in within if number not in self._holders), None)


class _Range:
    """The addresses of one prefix: freed ones first, the lowest first, then those never used."""

    def __init__(self, prefix: Prefix) -> None:
        self._hosts = hosts(prefix)
        self._next = self._hosts.first
        self._freed: list[int] = []

    def __iter__(self) -> Iterator[int]:
        while self._freed:
            yield heapq.heappop(self._freed)
        while self._next <= self._hosts.last:
            self._next += 1
            yield self._next - 1

    def free(self, number: int) -> None:
        if number in self._hosts and number < self._next:
            heapq.heappush(self._freed, number)


def _values(instance: Instance) -> Iterator[str]:
    return (_value(instance.metadata.namespace, held) for held in held_by(instance))


def _value(namespace: str, held: Held) -> str:
    return f"{namespace}/{held[0]}/{held[1]}"
