"""Small choices that a generator makes again and again."""

from random import Random
from typing import Any, TypeVar

T = TypeVar("T")


def often(chance: Random, share: float) -> bool:
    """Yes, in this share of all cases."""
    return chance.random() < share


def some(chance: Random, *each: tuple[float, T]) -> tuple[T, ...]:
    """Some of the things, each with its own share."""
    return tuple(thing for share, thing in each if often(chance, share))


def filled(value: Any) -> Any:
    """A document without objects and lists that are empty.

    What was applied empty and is applied no more becomes null on a real server, which then refuses.
    """
    if isinstance(value, dict):
        inner = {key: filled(each) for key, each in value.items()}
        return {key: each for key, each in inner.items() if each not in ({}, [])}
    return [filled(each) for each in value] if isinstance(value, list) else value


def without_nulls(document: Any) -> Any:
    """A document without nulls in its objects, which a real server reads otherwise if applied."""
    if not isinstance(document, dict):
        return document
    return {k: without_nulls(v) for k, v in document.items() if v is not None}
