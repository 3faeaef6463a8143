"""Label selectors: they select objects by their labels.

The string form (``app=web,tier in (a,b),!draft``) is used in list and watch requests and in the
scale subresource; the typed form (`meta.LabelSelector`) in specs. Both become a `Selector`,
which matches labels and prints as Kubernetes prints it: ordered by key, values sorted.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from kubekit.api.excerpt import excerpt
from kubekit.api.meta import LabelSelector, LabelSelectorRequirement
from kubekit.api.selectors.label_requirement import (
    OF_SETS,
    UNARY,
    Operator,
    Requirement,
    SelectorError,
)

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "Operator",
    "Requirement",
    "Selector",
    "SelectorError",
    "from_labels",
    "from_typed",
    "parse",
    "select",
    "to_typed",
]

_BINARY: Final = {str(operator): operator for operator in Operator if operator not in UNARY}
_FROM_TYPED: Final = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
}
_TO_TYPED: Final = {
    Operator.EQUALS: "In",
    Operator.DOUBLE_EQUALS: "In",
    Operator.NOT_EQUALS: "NotIn",
    **{operator: name for name, operator in _FROM_TYPED.items()},
}
_BLANKS: Final = " \t\r\n"
_SYMBOLS: Final = "=!(),<>"


@dataclass(frozen=True, slots=True)
class Selector:
    """Conditions that must all hold. Made by `select`, which puts them in order."""

    requirements: tuple[Requirement, ...] = ()

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels satisfy every condition."""
        return all(requirement.matches(labels) for requirement in self.requirements)


EVERYTHING: Final = Selector()
# A contradiction, so that it still selects nothing after it was printed and sent. Kubernetes prints an
# empty string for it, which selects everything.
NOTHING: Final = Selector(
    (Requirement("nothing", Operator.EXISTS), Requirement("nothing", Operator.DOES_NOT_EXIST))
)


def parse(text: str) -> Selector:
    """The selector that the string form spells. A blank text selects everything."""
    return _Parser(text).selector()


def select(requirements: Iterable[Requirement]) -> Selector:
    """The selector of all these conditions, ordered by key."""
    return Selector(tuple(sorted(requirements, key=lambda requirement: requirement.key)))


def from_labels(labels: Mapping[str, str]) -> Selector:
    """The selector of objects that have all these labels."""
    return select(
        Requirement(key, Operator.EQUALS, frozenset((value,))) for key, value in labels.items()
    )


def from_typed(typed: LabelSelector | None) -> Selector:
    """The selector of the typed form. An absent form selects nothing, an empty one everything."""
    if typed is None:
        return NOTHING
    equal = from_labels(typed.match_labels).requirements
    expressed = [_requirement(at, wire) for at, wire in enumerate(typed.match_expressions)]
    return select([*equal, *expressed])


def to_typed(selector: Selector) -> LabelSelector:
    """The typed form of the selector. ``<`` and ``>`` have none and are refused."""
    labels: dict[str, str] = {}
    expressions: list[LabelSelectorRequirement] = []
    for requirement in selector.requirements:
        equal = requirement.operator in (Operator.EQUALS, Operator.DOUBLE_EQUALS)
        if equal and requirement.key not in labels:
            labels[requirement.key] = "".join(requirement.values)
        else:  # a second value for the same key must not replace the first
            expressions.append(_expression(requirement))
    return LabelSelector(match_labels=labels, match_expressions=tuple(expressions))


def _requirement(at: int, wire: LabelSelectorRequirement) -> Requirement:
    where = f"matchExpressions[{at}]"
    operator = _FROM_TYPED.get(wire.operator)
    if operator is None:
        raise SelectorError(
            f"{where}: operator {excerpt(wire.operator)} is not one of {', '.join(_FROM_TYPED)}"
        )
    try:
        return Requirement(wire.key, operator, frozenset(wire.values))
    except SelectorError as error:
        raise SelectorError(f"{where}: {error}") from error


def _expression(requirement: Requirement) -> LabelSelectorRequirement:
    operator = _TO_TYPED.get(requirement.operator)
    if operator is None:
        raise SelectorError(f"{requirement} has no typed form: write it with other operators")
    values = tuple(sorted(requirement.values))
    return LabelSelectorRequirement(key=requirement.key, operator=operator, values=values)


class _Token(NamedTuple):
    text: str  # empty at the end of the selector
    at: int


class _Parser:
    """Reads a selector token by token, with one token of lookahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._next = next(self._tokens)

    def selector(self) -> Selector:
        if not self._next.text:
            return EVERYTHING
        requirements = [self._requirement()]
        while self._skip(","):
            requirements.append(self._requirement())
        if self._next.text:
            raise self._unexpected("',' or the end")
        return select(requirements)

    def _requirement(self) -> Requirement:
        at = self._next.at
        absent = self._skip("!")
        key = self._word()
        if not key:
            raise self._unexpected("a label key")
        operator = Operator.DOES_NOT_EXIST if absent else self._operator()
        values = self._values(operator)
        try:
            return Requirement(key, operator, frozenset(values))
        except SelectorError as error:
            raise self._error(at, str(error)) from error

    def _operator(self) -> Operator:
        text = self._next.text
        if text in ("", ","):
            return Operator.EXISTS
        if text not in _BINARY:
            raise self._unexpected(f"',' or one of {' '.join(_BINARY)}")
        self._advance()
        return _BINARY[text]

    def _values(self, operator: Operator) -> list[str]:
        if operator in UNARY:
            return []
        if operator not in OF_SETS:
            return [self._word()]
        if not self._skip("("):
            raise self._unexpected("'('")
        values = [self._word()]
        while self._skip(","):
            values.append(self._word())
        if not self._skip(")"):
            raise self._unexpected("',' or ')'")
        return values

    def _word(self) -> str:
        """The next key or value. The empty text is a value too."""
        text = self._next.text
        if not text or text[0] in _SYMBOLS:
            return ""
        self._advance()
        return text

    def _skip(self, symbol: str) -> bool:
        found = self._next.text == symbol
        if found:
            self._advance()
        return found

    def _advance(self) -> None:
        self._next = next(self._tokens)

    def _unexpected(self, wanted: str) -> SelectorError:
        found = excerpt(self._next.text) if self._next.text else "the end"
        return self._error(self._next.at, f"expected {wanted}, found {found}")

    def _error(self, at: int, why: str) -> SelectorError:
        return SelectorError(f"label selector {excerpt(self._text)}, character {at + 1}: {why}")


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        end = _token_end(text, at)
        if text[at] not in _BLANKS:
            yield _Token(text[at:end], at)
        at = end
    yield _Token("", at)


def _token_end(text: str, at: int) -> int:
    if text[at] in _BLANKS:
        return at + 1
    if text[at] in _SYMBOLS:
        return at + 2 if text[at : at + 2] in ("==", "!=") else at + 1
    end = at
    while end < len(text) and text[end] not in _SYMBOLS and text[end] not in _BLANKS:
        end += 1
    return end
