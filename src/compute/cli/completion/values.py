"""What completes the value of an argument or an option.

    @click.option("--workload", shell_complete=values.workloads)

Each function here is called only while the shell completes a word, and imports what it needs then.
A value with commas continues after the last one.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

import click

from compute.cli.target.flags import target_flags

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]

_COMMA: Final = ","


def _live(resource: str) -> Completer:
    """Completes with the names of objects on the server; none where it does not answer at once."""

    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        from compute.cli.completion.live_names import live_names  # noqa: PLC0415 -- as above

        names = live_names(resource, target_flags(ctx), _workload(ctx))
        return matching(names, incomplete, given(ctx, param))

    return complete


def _workload(ctx: click.Context) -> str:
    """The first argument. While an option lacks its value, arguments are not assigned yet."""
    return str(ctx.params.get("name") or next(iter(ctx.args), ""))


def matching(
    candidates: Iterable[tuple[str, str]], incomplete: str, given: Sequence[str] = ()
) -> "list[CompletionItem]":
    """The candidates, each with a description, that continue the word and are not given yet."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 -- as above

    *earlier, start = incomplete.split(_COMMA)
    before = "".join(f"{word}{_COMMA}" for word in earlier)
    known = {word.casefold() for word in (*earlier, *given)}
    return [
        CompletionItem(f"{before}{value}", help=text)
        for value, text in candidates
        if value.casefold().startswith(start.casefold()) and value.casefold() not in known
    ]


def given(ctx: click.Context, param: click.Parameter) -> Sequence[str]:
    """The values that this parameter has already on the command line."""
    value = ctx.params.get(param.name)
    return [str(each) for each in value] if isinstance(value, list | tuple) else []


workloads: Final = _live("workloads")
instances: Final = _live("instances")
cities: Final = _live("cities")
instance_types: Final = _live("instance-types")
networks: Final = _live("networks")
projects: Final = _live("projects")
revisions: Final = _live("revisions")
"""The numbers of the revisions of the workload that the argument ``name`` names."""
contexts: Final = _live("contexts")
cells: Final = _live("cells")


def files(_: click.Context, __: click.Parameter, ___: str) -> "list[CompletionItem]":
    """Lets the shell complete the name of a file, where the type of the value does not say so."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 -- as above

    return [CompletionItem("", type="file")]
