"""An index of objects by the values that a function returns, with little memory for each."""

from collections.abc import Iterable
from sys import intern

Key = tuple[str, str]  # namespace and name
_Values = str | tuple[str, ...]


class Index:
    """Which keys have which values.

    Most objects have one value, and many values one object: both are stored without a container.
    The two directions share the strings of values.
    """

    __slots__ = ("_keys", "_values")

    def __init__(self) -> None:
        self._keys: dict[str, Key | dict[Key, None]] = {}
        self._values: dict[Key, _Values] = {}

    def __getitem__(self, value: str) -> list[Key]:
        """The keys that have this value, in order."""
        keys = self._keys.get(value, ())
        return sorted(keys) if isinstance(keys, dict) else [keys] if keys else []

    def count(self, value: str) -> int:
        """How many keys have this value."""
        keys = self._keys.get(value, ())
        return len(keys) if isinstance(keys, dict) else bool(keys)

    def counts(self) -> dict[str, int]:
        """How many keys have each value."""
        return {value: self.count(value) for value in self._keys}

    def put(self, key: Key, values: Iterable[str]) -> None:
        """Set the values of a key."""
        new_values = tuple(dict.fromkeys(map(intern, values)))
        old_values = self._of(key)
        if new_values == old_values:
            return
        for value in old_values:
            if value not in new_values:
                self._remove(value, key)
        for value in new_values:
            if value not in old_values:
                self._add(value, key)
        self._values.pop(key, None)
        if new_values:
            self._values[key] = new_values[0] if len(new_values) == 1 else new_values

    def _of(self, key: Key) -> tuple[str, ...]:
        values = self._values.get(key, ())
        return (values,) if isinstance(values, str) else values

    def _add(self, value: str, key: Key) -> None:
        keys = self._keys.get(value)
        if keys is None:
            self._keys[value] = key
        elif isinstance(keys, dict):
            keys[key] = None
        else:
            self._keys[value] = {keys: None, key: None}

    def _remove(self, value: str, key: Key) -> None:
        keys = self._keys[value]
        if isinstance(keys, dict):
            del keys[key]
        if not isinstance(keys, dict) or not keys:
            del self._keys[value]
