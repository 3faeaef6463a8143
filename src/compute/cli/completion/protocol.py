"""The protocol of cobra, by which datumctl, kubectl and the scripts of shells ask for completion.

``compute __complete ARGS... WORD`` prints one candidate a line, with a tab before its description, and
last ``:N``, where N says whether the shell may offer files as well. It never prints an error.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

REQUEST: Final = "__complete"
WITHOUT_DESCRIPTIONS: Final = "__completeNoDesc"


class Directive(IntEnum):
    """What the shell does when there are no candidates."""

    FILES = 0
    NO_FILES = 4
    FOLDERS = 16


_OF_TYPE: Final = {"file": Directive.FILES, "dir": Directive.FOLDERS}


def answer(root: click.Command, arguments: Sequence[str], *, described: bool = True) -> str:
    """The answer for these words, of which the last is being typed."""
    try:
        found = _candidates(root, arguments)
    except Exception:  # noqa: BLE001 -- an error in the middle of a line would destroy the line
        found = []
    plain = [item for item in found if item.type == "plain"]
    directives = [_OF_TYPE[item.type] for item in found if item.type in _OF_TYPE]
    lines = [_line(item, described=described) for item in plain]
    return "\n".join([*lines, f":{directives[0] if directives else Directive.NO_FILES:d}"])


def _candidates(root: click.Command, arguments: Sequence[str]) -> "list[CompletionItem]":
    from click.shell_completion import ShellComplete  # noqa: PLC0415 -- only for completion

    *before, word = arguments or [""]
    flag, equals, value = word.partition("=")
    if equals and flag.startswith("-"):  # two words, so that a default command knows its flag
        before, word = [*before, flag], value
    if "--" not in before:
        return ShellComplete(root, {}, root.name or "", "").get_completions(before, word)
    return []


def _line(item: "CompletionItem", *, described: bool) -> str:
    text = " ".join((item.help or "").split())
    value = _one_word(str(item.value))
    return f"{value}\t{_one_word(text)}" if text and described else value


def _one_word(text: str) -> str:
    """The text without control characters, which could add lines or move the cursor."""
    return "".join(c for c in text if c.isprintable())
