"""What `compute rollout history` does."""

import asyncio
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from compute.api import labels
from compute.api.compute import Instance, Workload
from compute.cli.change.existing_workload import read_workload
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import typed
from compute.cli.output import phrases
from compute.cli.output.formats import as_yaml, show_data, show_names
from compute.cli.output.line_diffs import line_diff
from compute.cli.output.tables import block, plain, table
from compute.cli.output.terminal import styled, width
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.decide.workload.history import RevisionStatus
from compute.views.reading import ProjectReader
from compute.views.revisions import (
    RevisionDiffView,
    RevisionView,
    revision_diff,
    revision_views,
)
from kubekit.api import times
from kubekit.api.kinds.core import ConfigMap
from kubekit.client.options import ListOptions

_HEADERS: Final = ("REV", "WHEN", "IMAGE", "CHANGES", "BY", "STATUS", "CITIES")
_COLOURS: Final = {
    RevisionStatus.ACTIVE.value: "green",
    RevisionStatus.FAILED.value: "red",
    RevisionStatus.ROLLED_BACK.value: "yellow",
}
# Characters of an image and of the changes, and the columns that are left out, to fit a terminal.
_FITS: Final = ((40, ""), (30, ""), (20, ""), (20, "BY"), (30, "IMAGE BY"), (15, "IMAGE BY"))
_ALL: Final = 1000


def run(name: str, revision: int | None, output: str) -> int:
    """Run it. The arguments are those of the command."""
    return in_project(lambda session: _history(session, name, revision or 0, output))


async def _history(session: Session, name: str, number: int, output: str) -> Exit:
    workload = await read_workload(session, name)
    reader = ProjectReader(session.client, session.namespace)
    owned = ListOptions(label_selector=f"{labels.WORKLOAD_UID}={workload.metadata.uid}")
    revisions, instances = await asyncio.gather(
        reader.history(name), reader.if_served(Instance, owned)
    )
    views = revision_views(workload, revisions, instances)
    if number:
        _show_one(_one(number, workload, revisions, instances), session.now(), output)
    elif output == "name":
        show_names("revision", [str(view.rev) for view in views])
    elif output not in {"table", "wide"}:
        show_data(views, output)
    elif views:
        show(_table(views, session.now(), wide=output == "wide"))
        notify(
            f"\nShow one with: {typed(f'compute rollout history {name} --revision {views[0].rev}')}"
        )
    else:
        notify(f"Workload {name} has no revisions yet.")
    return Exit.OK


def _one(
    number: int,
    workload: Workload,
    revisions: ConfigMap | None,
    instances: Sequence[Instance] | None,
) -> RevisionDiffView:
    found = revision_diff(number, workload, revisions, instances)
    if found is not None:
        return found
    name = workload.metadata.name
    known = [str(view.rev) for view in reversed(revision_views(workload, revisions, instances))]
    which = f"known: {', '.join(known)}" if known else "it has none yet"
    raise Failure(
        f"workload {name} has no revision {number}; {which}",
        Exit.NOT_FOUND,
        next_step=f"compute rollout history {name}",
        reason="NotFound",
    )


def _table(views: Sequence[RevisionView], now: datetime, *, wide: bool) -> str:
    """The table. On a narrow terminal texts are cut, then columns left out, before any line is cut."""
    headers = (*_HEADERS, *(("NOTE",) if any(view.note for view in views) else ()))
    if wide:
        headers = (*_HEADERS, "SERVED", "TEMPLATE", *headers[len(_HEADERS) :])
        rows = [_wide_row(view, now)[: len(headers)] for view in views]
        return table(headers, rows, style=_coloured)
    room = width(sys.stdout)
    fits = (fit for fit in _FITS if _widest(_cells(views, now, headers, fit)) <= (room or _ALL))
    cells = _cells(views, now, headers, next(fits, _FITS[-1]))
    return table(cells[0], cells[1:], width=room, style=_coloured)


def _cells(
    views: Sequence[RevisionView], now: datetime, headers: Sequence[str], fit: tuple[int, str]
) -> list[tuple[str, ...]]:
    """The headers and the rows with texts of some length, and without some columns."""
    longest, without = fit
    rows = [headers, *(_row(view, now, longest)[: len(headers)] for view in views)]
    shown = [i for i, header in enumerate(headers) if header not in without.split()]
    return [tuple(row[i] for i in shown) for row in rows]


def _widest(cells: Sequence[Sequence[str]]) -> int:
    return max(map(len, table(cells[0], cells[1:]).split("\n")))


def _row(view: RevisionView, now: datetime, longest: int) -> tuple[str, ...]:
    return (
        str(view.rev),
        _age(view.timestamp, now),
        _end(view.image, longest),
        _start(view.changes, longest),
        view.actor or phrases.NONE,
        view.status.value,
        _cities(view, 3),
        view.note or phrases.NONE,
    )


def _wide_row(view: RevisionView, now: datetime) -> tuple[str, ...]:
    *cells, _, note = _row(view, now, _ALL)
    served, template = _age(view.healthy_at, now), view.template_hash or phrases.NONE
    return (*cells, _cities(view, _ALL), served, template, note)


def _show_one(view: RevisionDiffView, now: datetime, output: str) -> None:
    if output == "name":
        show_names("revision", [str(view.revision.rev)])
    elif output in {"json", "yaml", "jsonl"}:
        show_data(view, output)
    else:
        show("\n".join(_page(view, now)))


def _page(view: RevisionDiffView, now: datetime) -> list[str]:
    """One revision: a header, its spec, and what is different from the one before."""
    of = view.revision
    served = (
        f"{_age(of.healthy_at, now)} ago, in every city" if of.healthy_at else "never everywhere"
    )
    header = [
        ("Revision", f"{of.rev}, {of.status.value}"),
        ("When", f"{_age(of.timestamp, now)} ago" + (f", by {of.actor}" if of.actor else "")),
        ("Changes", of.changes),
        *([("Note", of.note)] if of.note else []),
        ("Served", served),
        ("Runs in", _cities(of, _ALL)),
    ]
    lines = [f"{label:<10} {plain(text)}" for label, text in header]
    if of.spec is None:
        return [*lines, "", "Its spec cannot be read."]
    return [*lines, "", block(as_yaml({"spec": of.spec})), *_differences(view)]


def _differences(view: RevisionDiffView) -> list[str]:
    if view.before is None:
        return []
    if view.before_spec is None:
        return ["", f"The spec of revision {view.before} cannot be read."]
    texts = [as_yaml({"spec": spec}) for spec in (view.before_spec, view.revision.spec)]
    found = line_diff(
        texts[0], texts[1], f"revision {view.before}", f"revision {view.revision.rev}"
    )
    return ["", *(found or [f"No difference from revision {view.before}."])]


def _cities(view: RevisionView, most: int) -> str:
    return "?" if view.cities is None else phrases.listed(view.cities, most)


def _age(timestamp: str, now: datetime) -> str:
    try:
        return phrases.age(times.parse(timestamp), now)
    except times.TimeError:
        return phrases.NONE


def _end(image: str, longest: int) -> str:
    return image if len(image) <= longest else f"…{image[1 - longest :]}"


def _start(changes: str, longest: int) -> str:
    return changes if len(changes) <= longest else f"{changes[: longest - 1]}…"


def _coloured(_: int, text: str) -> str:
    colour = _COLOURS.get(text.strip())
    return styled(text, colour) if colour else text
