"""Sets of fields, in the form that ``fieldsV1`` has on the wire.

A set is a tree of steps (`elements`). A node that says ``"."`` is itself in the set, and so is one
that has nothing below it; any other is only on the way to its members:

    {"f:spec": {"f:replicas": {}, "f:selector": {".": {}, "f:app": {}}}}

holds ``.spec.replicas``, ``.spec.selector`` and ``.spec.selector.app``. The root stands for no
field; empty, it is the empty set. Sets are never changed: results share parts of what they were
made of, and where nothing differs they *are* what they were made of, so that ``is`` tells at once.
Steps are in the order of their text.
"""

from collections.abc import Iterator
from typing import Final

from kubekit.plane.apply.path_elements import SELF, BadElement, canonical, shown

FieldSet = dict[str, "FieldSet"]

LEAF: Final[FieldSet] = {}
"""A node that is a member and has nothing below it. It must never be changed."""


class BadFields(ValueError):
    """What somebody sent as ``fieldsV1`` is not a set of fields."""


def read(raw: object) -> FieldSet:
    """The set that a client sent. Steps of kinds that nobody here knows are left out."""
    if raw is None:
        return {}
    try:
        node = _read(raw)
    except BadElement as error:
        raise BadFields(str(error)) from error
    except RecursionError:
        raise BadFields("the fields are nested too deep") from None
    return {step: inner for step, inner in node.items() if step != SELF}


def is_member(node: FieldSet) -> bool:
    """Whether a node is itself in the set."""
    return not node or SELF in node


def union(one: FieldSet, other: FieldSet) -> FieldSet:
    """What is in one of them."""
    if not other:
        return one
    return _union(one, other) if one else other


def difference(one: FieldSet, other: FieldSet) -> FieldSet:
    """What is in the first only. A field that goes does not take what is below it with it."""
    if not one or not other:
        return one
    return _difference(one, other) or {}


def intersection(one: FieldSet, other: FieldSet) -> FieldSet:
    """What is in both."""
    if not one or not other:
        return {}
    return _intersection(one, other) or {}


def contains(one: FieldSet, other: FieldSet) -> bool:
    """Whether the first has all that the second has."""
    return not difference(other, one)


def with_self(node: FieldSet | None) -> FieldSet:
    """A node that is a member, with what is below it."""
    if not node:
        return LEAF
    return node if SELF in node else {SELF: LEAF, **node}


def paths(fields: FieldSet, prefix: str = "") -> Iterator[str]:
    """The members as people write them: at each level first those that are there, then below."""
    steps = [(step, shown(step)) for step in fields if step != SELF]
    yield from (prefix + text for step, text in steps if is_member(fields[step]))
    for step, text in steps:
        yield from paths(fields[step], prefix + text)


def _read(raw: object) -> FieldSet:
    if raw is None:
        return LEAF
    if not isinstance(raw, dict):
        raise BadFields("each step must lead to a JSON object")
    found: FieldSet = {}
    for text, below in raw.items():
        if text == SELF:
            continue
        step = canonical(text)
        if step is not None:
            node = _read(below)
            found[step] = _union(found[step], node) if step in found else node
    if not found:
        return LEAF
    below_it = dict(sorted(found.items()))
    return {SELF: LEAF, **below_it} if SELF in raw else below_it


def _union(one: FieldSet, other: FieldSet) -> FieldSet:
    if one is other:
        return one
    if not other:
        return one if is_member(one) else with_self(one)
    if not one:
        return with_self(other)
    changed: FieldSet = {}
    for step, node in other.items():
        present = one.get(step)
        if present is None:
            changed[step] = node
        else:
            both = _union(present, node)
            if both is not present:
                changed[step] = both
    if not changed:
        return one
    merged = {**one, **changed}
    return merged if len(merged) == len(one) else dict(sorted(merged.items()))


def _difference(one: FieldSet, other: FieldSet) -> FieldSet | None:
    """The node without the other's members; None when nothing is left."""
    if not one:
        return None if is_member(other) else one
    if not other:
        return _settled({s: n for s, n in one.items() if s != SELF}) if SELF in one else one
    changed: dict[str, FieldSet | None] = {}
    for step, node in other.items():
        present = one.get(step)
        if present is not None:
            left = _difference(present, node)
            if left is not present:
                changed[step] = left
    if not changed:
        return one
    merged = {**one, **changed}
    return _settled({step: node for step, node in merged.items() if node is not None})


def _settled(node: FieldSet) -> FieldSet | None:
    """The node in its one form: a member with nothing below it is a leaf."""
    if not node:
        return None
    return LEAF if len(node) == 1 and SELF in node else node


def _intersection(one: FieldSet, other: FieldSet) -> FieldSet | None:
    if not one or not other:
        return LEAF if is_member(one) and is_member(other) else None
    found: FieldSet = {}
    for step, node in one.items():
        if step in other:
            both = _intersection(node, other[step])
            if both is not None:
                found[step] = both
    return _settled(found)
