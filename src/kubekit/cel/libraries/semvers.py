"""Semantic versions, by semver.org."""

import re
from typing import Final

from kubekit.cel.declarations import Overload, function, method
from kubekit.cel.errors import EvaluationError
from kubekit.cel.operations.opaques import Semver
from kubekit.cel.types import BOOL, INT, SEMVER, STRING
from kubekit.cel.values import UINT64

_DIGITS: Final = frozenset("0123456789")
_WORD: Final = re.compile(r"[0-9A-Za-z-]+")
_PARTS: Final = ("Major", "Minor", "Patch")
_SHORTEST: Final = 3


def parse(text: str) -> Semver:
    """The version that the text spells. Raises `EvaluationError`."""
    if not text:
        raise EvaluationError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != _SHORTEST:
        raise EvaluationError("No Major.Minor.Patch elements found")
    rest, plus, build = parts[2].partition("+")
    patch, dash, prerelease = rest.partition("-")
    numbers = tuple(map(_number, _PARTS, (*parts[:2], patch)))
    words = tuple(map(_prerelease_word, prerelease.split("."))) if dash else ()
    if plus:
        for word in build.split("."):
            _check_word(word, "Build meta data is empty", "build meta data")
    return Semver(numbers, words)


def normalized(text: str) -> str:
    """The text as a whole version: without a leading v, without leading zeros, of three parts."""
    parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < _SHORTEST and any(sign in parts[-1] for sign in "+-"):
        raise EvaluationError("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, "0", "0"][: max(_SHORTEST, len(parts))])


def _without_zeros(part: str) -> str:
    if len(part) <= 1:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped and stripped[0] in _DIGITS else f"0{stripped}"


def _number(name: str, text: str) -> int:
    if not text or not _DIGITS.issuperset(text):
        raise EvaluationError(f'Invalid character(s) found in {name.lower()} number "{text}"')
    if len(text) > 1 and text[0] == "0":
        raise EvaluationError(f'{name} number must not contain leading zeroes "{text}"')
    if len(text) > 20 or int(text) not in UINT64:  # noqa: PLR2004 - the digits of 2^64
        raise EvaluationError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return int(text)


def _prerelease_word(word: str) -> str:
    _check_word(word, "Prerelease is empty", "prerelease")
    if len(word) > 1 and word[0] == "0" and _DIGITS.issuperset(word):
        raise EvaluationError(
            f'Numeric PreRelease version must not contain leading zeroes "{word}"'
        )
    return word


def _check_word(word: str, empty: str, name: str) -> None:
    if not word:
        raise EvaluationError(empty)
    if not _WORD.fullmatch(word):
        raise EvaluationError(f'Invalid character(s) found in {name} "{word}"')


def _semver(text: str, normalize: bool = False) -> Semver:  # noqa: FBT001, FBT002 - the order of the arguments is the function's
    return parse(normalized(text) if normalize else text)


def _is_semver(text: str, normalize: bool = False) -> bool:  # noqa: FBT001, FBT002
    try:
        _semver(text, normalize)
    except EvaluationError:
        return False
    return True


def _compare(first: Semver, second: Semver) -> int:
    one, other = first.rank(), second.rank()
    return (one > other) - (one < other)


_TWO: Final = (SEMVER, SEMVER)
OVERLOADS: Final[tuple[Overload, ...]] = (
    function("semver", "string_to_semver", (STRING,), SEMVER, _semver),
    function("semver", "string_bool_to_semver", (STRING, BOOL), SEMVER, _semver),
    function("isSemver", "is_semver_string", (STRING,), BOOL, _is_semver),
    function("isSemver", "is_semver_string_bool", (STRING, BOOL), BOOL, _is_semver),
    method("isGreaterThan", "semver_is_greater_than", _TWO, BOOL, lambda a, b: _compare(a, b) > 0),
    method("isLessThan", "semver_is_less_than", _TWO, BOOL, lambda a, b: _compare(a, b) < 0),
    method("compareTo", "semver_compare_to", _TWO, INT, _compare),
    method("major", "semver_major", (SEMVER,), INT, lambda version: version.numbers[0]),
    method("minor", "semver_minor", (SEMVER,), INT, lambda version: version.numbers[1]),
    method("patch", "semver_patch", (SEMVER,), INT, lambda version: version.numbers[2]),
)
