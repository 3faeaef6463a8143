"""What `compute explain` does."""

from collections.abc import Sequence

from compute.cli.exits import Exit, Failure
from compute.cli.understand import explanation_texts as texts
from compute.cli.understand.explained_words import (
    EXIT_CODES,
    FIRST_OF_A_PATH,
    exit_codes,
    field,
    kinds,
    nearest_words,
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


def run(word: str | None, output: str) -> int:
    """Run it. The arguments are those of the command."""
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
