"""Options whose value is one of some words, or several of them, separated by commas."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from compute.cli.completion.values import given, matching
from compute.cli.shell.groups import nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

T = TypeVar("T")


def choices_option(
    flag: str, name: str, words: Sequence[str], text: str
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """An option that takes these words. The command gets them as a tuple called ``name``."""

    def chosen(
        _: click.Context, parameter: click.Parameter, value: Sequence[str]
    ) -> tuple[str, ...]:
        typed = [word.strip().casefold() for text in value for word in text.split(",")]
        for word in typed:
            if word not in words:
                near = nearest(word, words)
                hint = f"did you mean {near}? " if near else ""
                problem = f"there is no {word!r}: {hint}choose from {', '.join(words)}"
                raise click.BadParameter(problem, param_hint=parameter.opts[0])
        return tuple(dict.fromkeys(typed))

    def complete(
        ctx: click.Context, parameter: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        return matching([(word, "") for word in words], incomplete, given(ctx, parameter))

    return click.option(
        flag, name, multiple=True, metavar="WORD,...", callback=chosen, shell_complete=complete,
        help=f"{text}: {', '.join(words)}.",
    )  # fmt: skip
