r"""Field selectors: they select objects by a few of their fields.

The string form (``metadata.name=web,status.phase!=Running``) has no sets and no test for presence;
an absent field is an empty one. In a value, ``\,`` ``\=`` and ``\\`` stand for the character
itself. Which fields may be asked for is the server's business.
"""

from collections.abc import Iterator, Mapping
from typing import Final, Literal

import msgspec

from kubekit.api.excerpt import excerpt
from kubekit.api.selectors.label_requirement import SelectorError

_ESCAPED: Final = "\\,="
_ESCAPES: Final = str.maketrans({character: f"\\{character}" for character in _ESCAPED})


class FieldRequirement(msgspec.Struct, frozen=True):
    """What one field must be, or must not be."""

    field: str
    operator: Literal["=", "!="]
    value: str

    def __str__(self) -> str:
        return f"{self.field}{self.operator}{self.value.translate(_ESCAPES)}"

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether the fields satisfy this condition."""
        equal = fields.get(self.field, "") == self.value
        return equal if self.operator == "=" else not equal


class FieldSelector(msgspec.Struct, frozen=True):
    """Conditions that must all hold. `parse` puts them in order."""

    requirements: tuple[FieldRequirement, ...] = ()

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether the fields, given by their paths, satisfy every condition."""
        return all(requirement.matches(fields) for requirement in self.requirements)


EVERYTHING: Final = FieldSelector()


def parse(text: str) -> FieldSelector:
    """The selector that the string form spells. An empty text or term selects everything."""
    terms = [_requirement(text, at, term) for at, term in _terms(text) if term]
    return FieldSelector(tuple(sorted(terms, key=str)))


def _terms(text: str) -> Iterator[tuple[int, str]]:
    """The text between commas that no backslash precedes, and where each piece starts."""
    start, escaped = 0, False
    for at, character in enumerate(text):
        if character == "," and not escaped:
            yield start, text[start:at]
            start = at + 1
        escaped = character == "\\" and not escaped
    yield start, text[start:]


def _requirement(text: str, at: int, term: str) -> FieldRequirement:
    left, equals, right = term.partition("=")
    field = left.removesuffix("!")
    if not equals or not field:
        raise _error(text, at, f"{excerpt(term)} is not of the form field=value or field!=value")
    if field != left:
        return FieldRequirement(field, "!=", _unescaped(text, at, right))
    return FieldRequirement(field, "=", _unescaped(text, at, right.removeprefix("=")))


def _unescaped(text: str, at: int, value: str) -> str:
    characters = iter(value)
    plain: list[str] = []
    for character in characters:
        if character == "=":
            raise _error(text, at, "a '=' inside a value is written as '\\='")
        literal = next(characters, "") if character == "\\" else character
        if character == "\\" and literal not in tuple(_ESCAPED):
            raise _error(text, at, f"a backslash precedes only one of {' '.join(_ESCAPED)}")
        plain.append(literal)
    return "".join(plain)


def _error(text: str, at: int, why: str) -> SelectorError:
    return SelectorError(f"field selector {excerpt(text)}, character {at + 1}: {why}")
