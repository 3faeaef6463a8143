"""The words that `compute explain` knows: reasons, conditions, kinds with their fields, exit codes."""

import difflib
from functools import cache
from typing import Final

from compute.cli.exits import Exit, Failure
from compute.views.explain.field_docs import (
    DocumentedKind,
    FieldView,
    UnknownField,
    documented_kinds,
    field_view,
    kind_named,
    words_of,
)
from compute.views.explain.glossary import condition_names, reason_names
from compute.views.view import View

EXIT_CODES: Final = frozenset({"exit-codes", "exit-code", "exitcodes", "exits"})
FIRST_OF_A_PATH: Final = frozenset({"spec", "status", "metadata"})
"""The fields that are those of a Workload where a path names no kind."""

_WORKLOAD: Final = "workload"
_MOST: Final = 3
_ALIKE: Final = 0.6
_ALIKE_WORDS: Final = 0.7  # of many words, one is always a little alike
_AS_LIKELY: Final = 0.1  # how much less alike another word may be than the nearest
_LONGEST: Final = 64  # characters that are compared


class ExitCodeView(View, frozen=True, kw_only=True):
    """One exit code."""

    code: int
    name: str
    meaning: str


def exit_codes() -> tuple[ExitCodeView, ...]:
    """Every exit code of the command line."""
    return tuple(ExitCodeView(code=int(e), name=e.name, meaning=e.meaning) for e in Exit)


@cache
def kinds() -> tuple[DocumentedKind, ...]:
    """The kinds whose fields are documented: those of compute, and those around it."""
    from compute.app import crds  # noqa: PLC0415 -- only fields need the definitions

    return documented_kinds(crds.definitions())


def words() -> tuple[str, ...]:
    """Every word that can be explained without a server."""
    named = (kind.kind.casefold() for kind in kinds())
    return (*reason_names(), *condition_names(), *named, "exit-codes")


def nearest_words(word: str) -> tuple[str, ...]:
    """The words that were probably meant, the likeliest first; each as it is written."""
    by_case = {known.casefold(): known for known in words()}
    typed = word.casefold()[:_LONGEST]
    near = difflib.get_close_matches(typed, by_case, _MOST, _ALIKE_WORDS)
    if not near:
        return ()
    least = difflib.SequenceMatcher(None, near[0], typed).ratio() - _AS_LIKELY
    likely = difflib.get_close_matches(typed, near, _MOST, max(least, _ALIKE_WORDS))
    return tuple(by_case[each] for each in likely)


def field(path: str) -> FieldView:
    """The field at a path. A misspelled one is a failure that names the field probably meant."""
    first, *rest = words_of(path)
    kind = kind_named(first, kinds())
    if kind is None:
        kind, rest = kind_named(_WORKLOAD, kinds()), [first, *rest]
    assert kind is not None  # the definitions have Workloads
    try:
        return field_view(kind, rest)
    except UnknownField as error:
        by_case = {known.casefold(): known for known in error.known}
        near = difflib.get_close_matches(error.name.casefold()[:_LONGEST], by_case, 1, _ALIKE)
        hint = f"; did you mean {error.parent}.{by_case[near[0]]}?" if near else ""
        raise Failure(
            f"{error}{hint}",
            Exit.NOT_FOUND,
            next_step=f"compute explain {error.parent}",
            reason="NotFound",
        ) from error
