"""What `compute explain` prints, line by line."""

import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

import msgspec

from compute.cli.invocation import spelled
from compute.cli.output import phrases
from compute.cli.output.formats import show_data
from compute.cli.output.tables import plain
from compute.cli.output.terminal import width
from compute.cli.streams import show
from compute.views.explain.field_docs import DocumentedKind, FieldView
from compute.views.explain.glossary import ConditionTypeView, ReasonView
from compute.views.view import View

if TYPE_CHECKING:
    from compute.cli.understand.explained_words import ExitCodeView
    from compute.views.explain.explanations import ExplanationView

_WIDTH: Final = 88
_INDENT: Final = "  "


def show_explanation(lines: Iterable[str], data: object, output: str) -> None:
    """Print the lines, or the data in a format for programs."""
    if output == "table":
        show("\n".join(lines))
    else:
        show_data(data, output)


def meaning_lines(view: View) -> Iterator[str]:
    """A reason, or a type of condition."""
    if isinstance(view, ReasonView):
        yield from _reason_lines(view)
    elif isinstance(view, ConditionTypeView):
        yield from _condition_lines(view)


def _reason_lines(view: ReasonView) -> Iterator[str]:
    yield f"{view.reason}: a reason that {view.set_by} gives"
    yield from _wrapped("", view.meaning)
    yield from (line for note in view.notes for line in _wrapped("", note))
    yield ""
    yield from _wrapped("Who acts:   ", view.acts)
    yield from _wrapped("What to do: ", spelled(view.next_step))
    if view.conditions:
        yield from _wrapped("Seen on:    ", ", ".join(view.conditions))


def _condition_lines(view: ConditionTypeView) -> Iterator[str]:
    yield f"{view.condition}: a type of condition"
    yield from _wrapped("", f"True means: {view.meaning}")
    yield ""
    yield from _wrapped("Set by:     ", view.set_by)
    for use in view.objects:
        reasons = f", with the reasons {', '.join(use.reasons)}" if use.reasons else ""
        yield from _wrapped("On:         ", f"{use.on}{reasons}")


def field_lines(view: FieldView) -> Iterator[str]:
    """A field with its children."""
    yield f"{view.path}  <{view.type}>{'  required' if view.required else ''}"
    yield f"{_INDENT}of {view.kind}, {view.api_version}"
    if view.description:
        yield from _wrapped("", view.description)
    if view.has_default:
        default = view.default
        shown = default if isinstance(default, str) else msgspec.json.encode(default).decode()
        yield from _wrapped("Default: ", shown)
    yield from (line for rule in view.rules for line in _wrapped("Rule:    ", rule))
    if view.fields:
        yield ""
        yield "Fields:"
        for child in view.fields:
            mark = "  required" if child.required else ""
            yield f"{_INDENT}{child.name}  <{child.type}>{mark}"
            yield from _wrapped(_INDENT * 2, child.description)


def exit_code_lines(codes: "Iterable[ExitCodeView]") -> Iterator[str]:
    """Every exit code. They are the same for all commands."""
    yield "The exit codes of every command:"
    yield from (f"{_INDENT}{each.code:>3}  {each.meaning}" for each in codes)


def explanation_lines(view: "ExplanationView", now: datetime) -> Iterator[str]:
    """Why an object does not run."""
    yield plain(f"{view.subject}: {'healthy' if view.healthy else view.reason}")
    yield from _wrapped("", plain(view.cause))
    for gate in view.gates:
        state = "open" if gate.open else f"closed: {gate.why}"
        yield from _wrapped("Gate:     ", plain(f"{gate.name}, {state}"))
    if view.since:
        yield f"{_INDENT}Since:    {phrases.age(view.since, now)} ago"
    if view.culprit != view.subject:
        yield plain(f"{_INDENT}Cause in: {view.culprit}")
    if not view.healthy:
        yield from _wrapped("Who acts: ", view.acts)
    if view.next_step:
        yield from _wrapped("To do:    ", plain(spelled(view.next_step)))


def overview(
    reasons: Sequence[str], conditions: Sequence[str], kinds: Iterable[DocumentedKind]
) -> Iterator[str]:
    """What can be explained."""
    ours = ", ".join(kind.kind.casefold() for kind in kinds)
    yield "What can be explained:"
    yield ""
    yield "An object, and why it does not run:"
    yield f"{_INDENT}workload/NAME, deployment/NAME, instance/NAME"
    yield "A field, or all fields of a kind, such as workload.spec.placements:"
    yield from _wrapped("", ours)
    yield "The exit codes:"
    yield f"{_INDENT}exit-codes"
    yield "A type of condition:"
    yield from _wrapped("", ", ".join(conditions))
    yield "A reason of a condition or an event:"
    yield from _wrapped("", ", ".join(reasons))


def _wrapped(label: str, text: str) -> Iterator[str]:
    """The text below a heading, with its label before the first line."""
    first = f"{_INDENT}{label}"
    yield from textwrap.wrap(
        text,
        min(width(sys.stdout) or _WIDTH, _WIDTH),
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
