"""`compute explain`: what a reason, a condition or a field means, and why an object does not run.

Only objects are read from a server. Everything else works without one.
"""

from typing import TYPE_CHECKING

import click

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _complete(_: click.Context, __: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    from compute.cli.completion.values import matching  # noqa: PLC0415 -- only for completion
    from compute.cli.understand.explained_words import words  # noqa: PLC0415 -- as above

    return matching(((word, "") for word in words()), incomplete)


@compute_command(
    examples=(
        "compute explain QuotaExceeded",
        "compute explain workload.spec.placements.scaleSettings",
        "compute explain workload/web",
        "compute explain exit-codes",
    ),
    exits=(Exit.NOT_FOUND,),
    target=True,
)
@click.argument(
    "word",
    metavar="[REASON|CONDITION|FIELD|OBJECT|exit-codes]",
    required=False,
    shell_complete=_complete,
)
@output_option("table", "json", "yaml")
def command(word: str | None, output: str) -> int:
    """Explain a reason, a condition, a field, an object or the exit codes.

    An OBJECT is KIND/NAME: workload/web, deployment/web-home-dfw or instance/web-home-dfw-0. A
    FIELD is a path such as workload.spec.template; one that starts with spec is a Workload's.
    Without an argument: what can be explained.
    """
    from compute.cli.understand.explain_run import run  # noqa: PLC0415 -- not for help

    return run(word, output)
