"""The command to type next, out of the sentences of a next step."""

import re
from collections.abc import Iterable
from typing import Final

_COMMAND: Final = re.compile(r"`([^`]+)`")
_PLACEHOLDER: Final = re.compile(r"\b[A-Z]{2,}\b")
_OR_UNDO: Final = re.compile(r",? or (?:run )?`compute rollout undo [^`]*`")


def commands(next_step: str) -> tuple[str, ...]:
    """The commands that a next step names."""
    return tuple(_COMMAND.findall(next_step))


def without_undo(next_step: str) -> str:
    """The next step for a Workload that has no earlier healthy revision: an undo would be refused."""
    return _OR_UNDO.sub("", next_step)


def best_command(next_step: str, *, cities: Iterable[str] = ()) -> str:
    """The command of a next step that can be typed as it is, else the first; empty if there is none.

    ``cities`` are codes that stand in commands, so they are no placeholders.
    """
    known = frozenset(cities)
    named = commands(next_step)
    ready = (each for each in named if not set(_PLACEHOLDER.findall(each)) - known)
    return next(ready, named[0] if named else "")
