"""`compute explain`: what a reason, a condition or a field means, and why an object does not run.

Only objects are read from a server. Everything else works without one.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from compute.cli.exits import Exit, Failure
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.understand import explanation_texts as texts
from compute.cli.understand.explained_words import (
    EXIT_CODES,
    FIRST_OF_A_PATH,
    exit_codes,
    field,
    kinds,
    nearest_words,
    words,
)
from compute.cli.understand.explanation_texts import show_explanation
from compute.views.explain.field_docs import kind_named
from compute.views.explain.glossary import (
    condition_named,
    condition_names,
    reason_named,
    reason_names,
)
from compute.views.view import View

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _complete(_: click.Context, __: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    from compute.cli.completion.values import matching  # noqa: PLC0415 -- only for completion

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
    if word is None:
        show_explanation(
            texts.overview(reason_names(), condition_names(), kinds()), _index(), output
        )
        return Exit.OK
    if "/" in word:
        from compute.cli.understand.explain_object import explain_object  # noqa: PLC0415 -- a session is slow to import

        return explain_object(word, output)
    return _word(word, output)


def _word(word: str, output: str) -> int:
    if word.casefold() in EXIT_CODES:
        codes = exit_codes()
        show_explanation(texts.exit_code_lines(codes), codes, output)
        return Exit.OK
    meanings: list[View] = [m for m in (reason_named(word), condition_named(word)) if m]
    if meanings:
        lines = [line for each in meanings for line in (*texts.meaning_lines(each), "")]
        show_explanation(lines[:-1], meanings[0] if len(meanings) == 1 else meanings, output)
        return Exit.OK
    first = word.partition(".")[0].partition("[")[0]
    if first in FIRST_OF_A_PATH or kind_named(first, kinds()):
        view = field(word)
        show_explanation(texts.field_lines(view), view, output)
        return Exit.OK
    raise _unknown(word)


def _unknown(word: str) -> Failure:
    near = nearest_words(word)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return Failure(
        f"nothing is known about {word}{hint}",
        Exit.NOT_FOUND,
        next_step="compute explain",
        reason="NotFound",
    )


def _index() -> dict[str, Sequence[str]]:
    """What can be explained, as data."""
    return {
        "reasons": reason_names(),
        "conditions": condition_names(),
        "kinds": [kind.kind for kind in kinds()],
        "objects": ["workload", "deployment", "instance"],
    }
