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
        present = self._keys.get(value, ())
        return sorted(present) if isinstance(present, dict) else [present] if present else []

    def count(self, value: str) -> int:
        """How many keys have this value."""
        present = self._keys.get(value, ())
        return len(present) if isinstance(present, dict) else bool(present)

    def counts(self) -> dict[str, int]:
        """How many keys have each value."""
        return {value: self.count(value) for value in self._keys}

    def put(self, key: Key, values: Iterable[str]) -> None:
        """Set the values of a key."""
        wanted = tuple(dict.fromkeys(map(intern, values)))
        old_values = self._of(key)
        if wanted == old_values:
            return
        for value in old_values:
            if value not in wanted:
                self._leave(value, key)
        for value in wanted:
            if value not in old_values:
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
