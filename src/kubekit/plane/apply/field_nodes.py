"""The nodes of a kind's shape: how the fields of a document are owned.

    Leaf       a scalar, or an atomic map or list: owned and replaced as a whole
    Granular   an object or map whose fields are owned one by one
    Keyed      a list whose entries are owned one by one, identified by keys or by their values
    Free       a field without a type: objects are granular, all other values are leaves

Every write uses three operations, which are methods and written to be fast: the present fields
(`fields_in`), the fields that an apply of the value owns (`owned`), and the differences of two values
(`compared`). The rest is in `value_merge` and `config_errors`.

    value          fields_in                            owned
    {"a": {}}      {".": {}, "f:a": {}}                 {"f:a": {}}
    [{"name": 1}]  {".": {}, "k:{..}": {".": {}, ..}}   {"k:{..}": {".": {}, ..}}
    []             {}                                   None: nothing

`fields_in` includes the enclosing objects and lists, `owned` does not: an object belongs to the
managers of its fields.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from kubekit.plane.apply.field_sets import LEAF, FieldSet, with_self
from kubekit.plane.apply.path_elements import SELF, keyed, spelled

Difference = tuple[FieldSet | None, FieldSet | None]
"""The gained fields, which were added or changed, and the lost fields; None for no fields."""

SAME: Final[Difference] = (None, None)
CHANGED: Final[Difference] = (LEAF, None)

_MOST_PLANS: Final = 64
_LONGEST_PLAN: Final = 2048  # characters
_MOST_KEYS: Final = 512
_LONGEST_KEY: Final = 128
_ONE_ENTRY: Final = 2  # steps: the list itself, and the entry
_ABSENT: Final = object()


class Untrackable(Exception):
    """A value that does not fit its schema, so its fields are unknown."""


class FieldNode(Protocol):
    """One field of a document. ``exact`` means that ``==`` compares its values correctly.

    That is false for a field of any type: in Python, true equals 1.
    """

    exact: bool

    def fields_in(self, value: Any) -> FieldSet: ...  # noqa: ANN401 -- whatever JSON holds
    def owned(self, value: Any) -> FieldSet | None: ...  # noqa: ANN401
    def compared(self, old: Any, new: Any) -> Difference: ...  # noqa: ANN401


class Leaf:
    """One value. ``kind`` is its type as in `config_errors`; ``inner`` the node of its content."""

    __slots__ = ("exact", "inner", "kind")

    def __init__(self, kind: str, *, inner: "FieldNode | None" = None, exact: bool = True) -> None:
        self.kind = kind
        self.inner = inner
        self.exact = exact if inner is None else inner.exact

    def fields_in(self, _value: object) -> FieldSet:
        return LEAF

    def owned(self, _value: object) -> FieldSet:
        return LEAF

    def compared(self, old: object, new: object) -> Difference:
        return SAME if (old == new if self.exact else equal(old, new)) else CHANGED


_Plan = tuple[FieldSet, tuple[tuple[str, str, Callable[[Any], FieldSet]], ...]]


class Granular:
    """An object or map. ``fields`` are the named ones, None for one that is not tracked.

    ``element`` is the node of any other field; None if there are no others. The existence of an
    ``outer`` object is not tracked: the document and its metadata.
    """

    __slots__ = ("_plans", "element", "exact", "fields", "outer")

    def __init__(
        self,
        fields: Mapping[str, FieldNode | None],
        element: FieldNode | None = None,
        *,
        outer: bool = False,
    ) -> None:
        self.fields = dict(fields)
        self.element = element
        self.outer = outer
        self.exact = all(node is None or node.exact for node in (*fields.values(), element))
        self._plans: dict[tuple[str, ...], _Plan] = {}

    def fields_in(self, value: Any) -> FieldSet:  # noqa: ANN401
        if not value:
            return LEAF
        if type(value) is not dict:
            raise Untrackable
        try:
            known, inner = self._plans[tuple(value)]
        except KeyError:
            known, inner = self._plan(tuple(value))
        if inner:
            known = known.copy()
            for name, step, fields_in in inner:
                known[step] = fields_in(value[name])
        return known

    def owned(self, value: Any) -> FieldSet | None:  # noqa: ANN401
        if not value:
            return LEAF
        if type(value) is not dict:
            raise Untrackable
        fields: FieldSet = {}
        for name in sorted(value):
            node = self.fields.get(name, self.element)
            part = None if node is None else node.owned(value[name])
            if name in self.fields:
                if part is not None:
                    fields[f"f:{name}"] = part
            elif node is not None:
                fields[f"f:{name}"] = with_self(part)
        return fields or None

    def compared(self, old: Any, new: Any) -> Difference:  # noqa: ANN401
        if not old and not new:
            return SAME if old == new else CHANGED
        old, new = _object(old), _object(new)
        gained: FieldSet = {}
        lost: FieldSet = {}
        fields, element, exact = self.fields, self.element, self.exact
        for name, value in new.items():
            before = old.get(name, _ABSENT)
            if before is value or (exact and before == value):
                continue
            if (node := fields.get(name, element)) is None:
                continue
            if before is _ABSENT:
                gained[f"f:{name}"] = node.fields_in(value)
            elif not node.exact or before != value:
                _note(f"f:{name}", node.compared(before, value), gained, lost)
        if not old.keys() <= new.keys():
            self._lose(old, new, lost)
        return _in_order(gained), _in_order(lost)

    def _lose(self, old: dict[str, Any], new: dict[str, Any], lost: FieldSet) -> None:
        for name, value in old.items():
            if name not in new and (node := self.fields.get(name, self.element)) is not None:
                lost[f"f:{name}"] = node.fields_in(value)

    def _plan(self, names: tuple[str, ...]) -> _Plan:
        """The field set that objects with these names share, and the names whose values matter."""
        known: FieldSet = {} if self.outer else {SELF: LEAF}
        inner: list[tuple[str, str, Callable[[Any], FieldSet]]] = []
        for name in sorted(names):
            node = self.fields.get(name, self.element)
            if node is not None:
                known[f"f:{name}"] = LEAF
                if type(node) is not Leaf:
                    inner.append((name, f"f:{name}", node.fields_in))
        plan = (known, tuple(inner))
        if sum(map(len, names)) <= _LONGEST_PLAN:
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._plans[names] = plan
        return plan


class Keyed:
    """A list whose entries have owners: with ``keys`` a list of objects, without keys a set."""

    __slots__ = ("_steps", "defaults", "entry", "exact", "keys", "only")

    def __init__(
        self, keys: Sequence[str], entry: FieldNode, defaults: Mapping[str, object] | None = None
    ) -> None:
        self.keys = tuple(sorted(keys))
        self.entry = entry
        self.defaults = defaults or {}
        self.exact = entry.exact
        self.only = self.keys[0] if len(self.keys) == 1 and not self.defaults else ""
        self._steps: dict[str, str] = {}

    def fields_in(self, value: Any) -> FieldSet:  # noqa: ANN401
        if not value:
            return LEAF
        if type(value) is not list:
            raise Untrackable
        fields: FieldSet = {SELF: LEAF}
        step, fields_in = self.step, self.entry.fields_in
        for entry in value:
            fields[step(entry)] = fields_in(entry)
        if len(fields) <= len(value):
            return {SELF: LEAF, **self._entries(value, fields_in)}
        return dict(sorted(fields.items())) if len(fields) > _ONE_ENTRY else fields

    def owned(self, value: Any) -> FieldSet | None:  # noqa: ANN401
        if not value:
            return LEAF if value is None else None
        return self._entries(value, self._owned_entry)

    def compared(self, old: Any, new: Any) -> Difference:  # noqa: ANN401
        if not old and not new:
            return SAME if old == new else CHANGED
        if self._is_aligned(old, new):
            return self._compared_in_place(old, new)
        before, after = self.indexed(old), self.indexed(new)
        gained: FieldSet = {}
        lost: FieldSet = {}
        for step, values in after.items():
            earlier = before.get(step)
            if earlier is None:
                gained[step] = self._there_entry(values)
            else:
                _note(step, self._compared_entry(earlier, values), gained, lost)
        for step, values in before.items():
            if step not in after:
                lost[step] = self._there_entry(values)
        return _in_order(gained), _in_order(lost)

    def step(self, entry: Any) -> str:  # noqa: ANN401
        """The step that identifies an entry."""
        if not self.keys:
            if entry is None or type(entry) in (dict, list):
                raise Untrackable
            return f"v:{spelled(entry)}"
        if type(entry) is not dict:
            raise Untrackable
        if self.only and type(only := entry.get(self.only)) is str:
            return self._steps.get(only) or self._step_of_only(only)
        key = {
            n: entry.get(n, self.defaults.get(n))
            for n in self.keys
            if n in entry or n in self.defaults
        }
        if not key:
            raise Untrackable
        return keyed(key)

    def _step_of_only(self, only: str) -> str:
        step = keyed({self.only: only})
        if len(only) <= _LONGEST_KEY:
            if len(self._steps) >= _MOST_KEYS:
                self._steps.clear()
            self._steps[only] = step
        return step

    def indexed(self, entries: Any) -> dict[str, list[Any]]:  # noqa: ANN401
        """The entries by their step. Only invalid lists have several entries with one step."""
        if entries is None:
            return {}
        if type(entries) is not list:
            raise Untrackable
        by_step: dict[str, list[Any]] = {}
        for entry in entries:
            by_step.setdefault(self.step(entry), []).append(entry)
        return by_step

    def _is_aligned(self, old: Any, new: Any) -> bool:  # noqa: ANN401
        """Whether both lists have the same entries in the same order, as in most changes."""
        if not self.only or not self.exact:
            return False
        try:
            names = [entry[self.only] for entry in new]
            return [entry[self.only] for entry in old] == names and len(set(names)) == len(names)
        except (KeyError, TypeError):
            return False

    def _compared_in_place(self, old: list[Any], new: list[Any]) -> Difference:
        gained: FieldSet = {}
        lost: FieldSet = {}
        for before, entry in zip(old, new, strict=True):
            if before != entry:
                _note(self.step(entry), self.entry.compared(before, entry), gained, lost)
        return _in_order(gained), _in_order(lost)

    def _entries(self, value: object, of: Callable[[Any], FieldSet]) -> FieldSet:
        by_step = self.indexed(value)
        parts = {step: of(same[0]) if len(same) == 1 else LEAF for step, same in by_step.items()}
        return dict(sorted(parts.items())) if len(parts) > 1 else parts

    def _owned_entry(self, entry: object) -> FieldSet:
        return with_self(self.entry.owned(entry))

    def _there_entry(self, same: list[Any]) -> FieldSet:
        return self.entry.fields_in(same[0]) if len(same) == 1 else LEAF

    def _compared_entry(self, old: list[Any], new: list[Any]) -> Difference:
        """Entries with the same step are one value; a single remaining one is another entry."""
        if len(old) == len(new) == 1:
            return self.entry.compared(old[0], new[0])
        if len(old) > 1 and len(new) > 1:
            return SAME if equal(old, new) else CHANGED
        return self._there_entry(new), self._there_entry(old)


class Free:
    """A field without a type in the schema."""

    __slots__ = ("as_list", "as_object", "exact")

    def __init__(
        self, as_object: FieldNode | None = None, as_list: FieldNode | None = None
    ) -> None:
        self.exact = False
        self.as_object = as_object or Granular({}, self)
        self.as_list = as_list or UNTYPED

    def of(self, value: object) -> FieldNode:
        """The node for this value."""
        if type(value) is dict:
            return self.as_object
        return self.as_list if type(value) is list else UNTYPED

    def fields_in(self, value: object) -> FieldSet:
        return self.of(value).fields_in(value)

    def owned(self, value: object) -> FieldSet | None:
        return self.of(value).owned(value)

    def compared(self, old: object, new: object) -> Difference:
        before, after = self.of(old), self.of(new)
        if before is after:
            return before.compared(old, new)
        if old is None or new is None:
            return self._beside_null(old, new)
        lost = {step: node for step, node in before.fields_in(old).items() if step != SELF}
        return with_self(after.fields_in(new)), lost or None

    def _beside_null(self, old: object, new: object) -> Difference:
        """The differences when one value is null, which counts as any empty value."""
        node = self.of(old if new is None else new)
        return CHANGED if node is UNTYPED else node.compared(old, new)


UNTYPED: Final = Leaf("untyped", exact=False)
ANYTHING: Final = Free()


def equal(one: object, other: object) -> bool:
    """Whether two values are the same in Kubernetes: 1 equals 1.0, and neither equals true."""
    if one is other:
        return True
    if one != other or isinstance(one, bool) != isinstance(other, bool):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return all(equal(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return all(map(equal, one, other))
    return True


def _object(value: Any) -> dict[str, Any]:  # noqa: ANN401
    if value is None:
        return {}
    if type(value) is not dict:
        raise Untrackable
    return value


def _note(step: str, difference: Difference, gained: FieldSet, lost: FieldSet) -> None:
    more, less = difference
    if more is not None:
        gained[step] = more
    if less is not None:
        lost[step] = less


def _in_order(fields: FieldSet) -> FieldSet | None:
    if len(fields) > 1:
        return dict(sorted(fields.items()))
    return fields or None
