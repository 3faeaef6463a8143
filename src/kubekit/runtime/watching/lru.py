"""The objects that were read lately, so that they need not be made of their bytes again and again."""

from collections.abc import Hashable
from typing import Generic, TypeVar

from kubekit.api.meta import Object

H = TypeVar("H", bound=Hashable)
K = TypeVar("K", bound=Object)


class LRUCache(Generic[H, K]):
    """Objects by their key: the last ``most`` that were put or asked for, and at most twice as many.

    There are two generations. What is asked for joins the younger one; when that is full it becomes
    the older, and the older is forgotten. So nothing has to be moved at each read.
    """

    __slots__ = ("_capacity", "_older", "_younger")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._younger: dict[H, K] = {}
        self._older: dict[H, K] = {}

    def get(self, key: H) -> K | None:
        found = self._younger.get(key)
        if found is None and (found := self._older.get(key)) is not None:
            self.put(key, found)
        return found

    def put(self, key: H, obj: K) -> None:
        """Remember an object, in the place of any other of this key."""
        if len(self._younger) >= self._capacity:
            self._older, self._younger = self._younger, {}
        self._younger[key] = obj

    def drop(self, key: H) -> None:
        self._younger.pop(key, None)
        self._older.pop(key, None)
