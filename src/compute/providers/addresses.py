"""Addresses for machines: each the lowest that is free in the Subnet of its network.

Who has which address is known from the Instances themselves, as their cache hears of them. An
address that is being given is kept for the Instance until its status shows it, or until it is gone.
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
Held = tuple[str, int]  # network and address
Slot = tuple[str, int]  # network, and which interface


def holders(cache: Cache[Instance], namespace: str, held: Held) -> list[Instance]:
    """The Instances that have an address, as their statuses say. There should be one."""
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
    """The addresses of every cell that is engaged."""

    def __init__(self) -> None:
        self._cells: dict[ClusterName, _Cell] = {}
        self._ends: dict[ClusterName, Callable[[], None]] = {}

    def engage(self, cluster: Cluster) -> None:
        informer = cluster.informers.of(Instance)
        cell = self._cells[cluster.name] = _Cell(informer.cache)
        self._ends[cluster.name] = informer.listen(cell.heard)

    def disengage(self, cluster: Cluster) -> None:
        self._ends.pop(cluster.name)()
        del self._cells[cluster.name]

    def take(self, cell: ClusterName, holder: Key, slot: Slot, prefix: Prefix) -> str | None:
        """A free address of a prefix, kept for the holder's interface; None when there is none."""
        number = self._cells[cell].take(holder, slot, prefix)
        return None if number is None else str(prefix[number - int(prefix.network_address)])


class _Cell:
    """Who has which addresses in one cell."""

    def __init__(self, cache: Cache[Instance]) -> None:
        self._cache = cache
        self._pools: dict[tuple[str, str], _Pool] = {}  # by namespace and network
        self._shown: dict[Key, tuple[Held, ...]] = {}  # by the statuses
        self._kept: dict[Key, dict[Slot, int]] = {}  # given, and not shown yet

    def heard(self, changed: CacheChange[Instance]) -> None:
        key = changed.namespace, changed.name
        new = changed.new
        shown = () if new is None else tuple(held_by(new))
        if new is None or shown:
            kept = self._kept.pop(key, {})
            self._drop(key, [(slot[0], number) for slot, number in kept.items()], shown)
        if shown == self._shown.get(key, ()):
            return
        for network, number in shown:
            self._pool(key, network).note(number, key)
        self._drop(key, self._shown.pop(key, ()), shown)
        if shown:
            self._shown[key] = shown

    def take(self, key: Key, slot: Slot, prefix: Prefix) -> int | None:
        kept = self._kept.setdefault(key, {})
        present = kept.get(slot)
        if present is not None and present in hosts(prefix):
            return present
        network = slot[0]
        pool = self._pool(key, network)
        while (number := pool.take(prefix)) is not None:
            others = holders(self._cache, key[0], (network, number))
            if not others:
                pool.note(number, key)
                kept[slot] = number
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
    """The addresses of one network. To take one, or to give it back, does not depend on how many."""

    def __init__(self) -> None:
        self._holders: dict[int, Key] = {}
        self._rooms: dict[Prefix, _Room] = {}

    def note(self, number: int, holder: Key) -> None:
        self._holders.setdefault(number, holder)

    def free(self, number: int, holder: Key) -> None:
        if self._holders.get(number) == holder:
            del self._holders[number]
            for room in self._rooms.values():
                room.freed(number)

    def take(self, prefix: Prefix) -> int | None:
        """The lowest address that nobody is known to have."""
        room = self._rooms.setdefault(prefix, _Room(prefix))
        return next((number for number in room if number not in self._holders), None)


class _Room:
    """The addresses of one prefix: those given back, lowest first, then those never given."""

    def __init__(self, prefix: Prefix) -> None:
        self._hosts = hosts(prefix)
        self._next = self._hosts.first
        self._back: list[int] = []

    def __iter__(self) -> Iterator[int]:
        while self._back:
            yield heapq.heappop(self._back)
        while self._next <= self._hosts.last:
            self._next += 1
            yield self._next - 1

    def freed(self, number: int) -> None:
        if number in self._hosts and number < self._next:
            heapq.heappush(self._back, number)


def _values(instance: Instance) -> Iterator[str]:
    return (_value(instance.metadata.namespace, held) for held in held_by(instance))


def _value(namespace: str, held: Held) -> str:
    return f"{namespace}/{held[0]}/{held[1]}"
