"""How help is laid out: a flag is never broken at a hyphen, so that it can be copied."""

import re
from collections.abc import Iterable
from typing import Final

import click

_FLAG: Final = re.compile(r"(?<!\S)[`(]?--?\w[\w-]*")
_MARK: Final = "\N{NON-BREAKING HYPHEN}"  # of the same width, and not a place to break at


class HelpLayout(click.HelpFormatter):
    """Wraps text between words only where a word is a flag."""

    def write_text(self, text: str) -> None:
        super().write_text(_unbroken(text))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        super().write_dl([(term, _unbroken(text)) for term, text in rows], col_max, col_spacing)

    def getvalue(self) -> str:
        return super().getvalue().replace(_MARK, "-")


class HelpContext(click.Context):
    """The context of a command whose help has this layout."""

    formatter_class = HelpLayout


def _unbroken(text: str) -> str:
    return _FLAG.sub(lambda match: match[0].replace("-", _MARK), text)
