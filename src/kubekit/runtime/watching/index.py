"""Finding objects by what a function says of them, at little cost for each."""

from collections.abc import Iterable
from sys import intern

Key = tuple[str, str]  # namespace and name
_Values = str | tuple[str, ...]


class Index:
    """Which keys have which values.

    Most objects have one value, and many values one object: both are kept without a container of
    their own. Values are shared between the two directions.
    """

    __slots__ = ("_keys", "_values")

    def __init__(self) -> None:
        self._keys: dict[str, Key | dict[Key, None]] = {}
        self._values: dict[Key, _Values] = {}

    def __getitem__(self, value: str) -> list[Key]:
        """The keys that have this value, in order."""
        found = self._keys.get(value, ())
        return sorted(found) if isinstance(found, dict) else [found] if found else []

    def count(self, value: str) -> int:
        """How many keys have this value."""
        found = self._keys.get(value, ())
        return len(found) if isinstance(found, dict) else bool(found)

    def counts(self) -> dict[str, int]:
        """How many keys have each of the values that there are."""
        return {value: self.count(value) for value in self._keys}

    def put(self, key: Key, values: Iterable[str]) -> None:
        """From now on the key has these values, and no others."""
        wanted = tuple(dict.fromkeys(map(intern, values)))
        had = self._of(key)
        if wanted == had:
            return
        for value in had:
            if value not in wanted:
                self._leave(value, key)
        for value in wanted:
            if value not in had:
                self._enter(value, key)
        self._values.pop(key, None)
        if wanted:
            self._values[key] = wanted[0] if len(wanted) == 1 else wanted

    def _of(self, key: Key) -> tuple[str, ...]:
        values = self._values.get(key, ())
        return (values,) if isinstance(values, str) else values

    def _enter(self, value: str, key: Key) -> None:
        present = self._keys.get(value)
        if present is None:
            self._keys[value] = key
        elif isinstance(present, dict):
            present[key] = None
        else:
            self._keys[value] = {present: None, key: None}

    def _leave(self, value: str, key: Key) -> None:
        present = self._keys[value]
        if isinstance(present, dict):
            del present[key]
        if not isinstance(present, dict) or not present:
            del self._keys[value]
