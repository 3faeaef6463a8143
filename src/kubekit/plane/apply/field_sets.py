"""Sets of fields, in the wire format of ``fieldsV1``.

A set is a tree of steps (`path_elements`). A node with ``"."``, or without children, is a member of
the set. Any other node only leads to members:

    {"f:spec": {"f:replicas": {}, "f:selector": {".": {}, "f:app": {}}}}

contains ``.spec.replicas``, ``.spec.selector`` and ``.spec.selector.app``. The root is not a field;
an empty root is the empty set. Sets are immutable: results share parts of their arguments, and an
operation that changes nothing returns its argument, so that ``is`` detects it. Steps are in the
order of their text.
"""

from collections.abc import Iterator
from typing import Final

from kubekit.plane.apply.path_elements import SELF, BadElement, canonical, shown

FieldSet = dict[str, "FieldSet"]

LEAF: Final[FieldSet] = {}
"""A member without children. It must never be changed."""


class BadFields(ValueError):
    """The ``fieldsV1`` in a request is not a set of fields."""


def read(raw: object) -> FieldSet:
    """The set that a client sent. Steps of unknown types are dropped."""
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
    """The fields in either set."""
    if not other:
        return one
    return _union(one, other) if one else other


def difference(one: FieldSet, other: FieldSet) -> FieldSet:
    """The fields in the first set only. Removing a field does not remove the fields below it."""
    if not one or not other:
        return one
    return _difference(one, other) or {}


def intersection(one: FieldSet, other: FieldSet) -> FieldSet:
    """The fields in both sets."""
    if not one or not other:
        return {}
    return _intersection(one, other) or {}


def contains(one: FieldSet, other: FieldSet) -> bool:
    """Whether the first set contains the second."""
    return not difference(other, one)


def with_self(node: FieldSet | None) -> FieldSet:
    """The node as a member, with its children."""
    if not node:
        return LEAF
    return node if SELF in node else {SELF: LEAF, **node}


def paths(fields: FieldSet, prefix: str = "") -> Iterator[str]:
    """The members as readable paths: at each level first the members, then their children."""
    steps = [(step, shown(step)) for step in fields if step != SELF]
    yield from (prefix + text for step, text in steps if is_member(fields[step]))
    for step, text in steps:
        yield from paths(fields[step], prefix + text)


def _read(raw: object) -> FieldSet:
    if raw is None:
        return LEAF
    if not isinstance(raw, dict):
        raise BadFields("each step must lead to a JSON object")
    children: FieldSet = {}
    for text, below in raw.items():
        if text == SELF:
            continue
        step = canonical(text)
        if step is not None:
            node = _read(below)
            children[step] = _union(children[step], node) if step in children else node
    if not children:
        return LEAF
    ordered = dict(sorted(children.items()))
    return {SELF: LEAF, **ordered} if SELF in raw else ordered


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
    """The node without the other's members; None if it is empty."""
    if not one:
        return None if is_member(other) else one
    if not other:
        return _canonical({s: n for s, n in one.items() if s != SELF}) if SELF in one else one
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
    return _canonical({step: node for step, node in merged.items() if node is not None})


def _canonical(node: FieldSet) -> FieldSet | None:
    """The node in its canonical form: a member without children is a leaf."""
    if not node:
        return None
    return LEAF if len(node) == 1 and SELF in node else node


def _intersection(one: FieldSet, other: FieldSet) -> FieldSet | None:
    if not one or not other:
        return LEAF if is_member(one) and is_member(other) else None
    common: FieldSet = {}
    for step, node in one.items():
        if step in other:
            both = _intersection(node, other[step])
            if both is not None:
                common[step] = both
    return _canonical(common)
