"""What `compute secrets` and `compute configmaps` have in common: `list` and `set`.

`set` writes the named keys in a merge patch, so two users who set different keys do not disturb each
other. No value is ever printed.
"""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import click

from compute.api.compute import Workload
from compute.api.names import history_workload
from compute.cli.change.workload_change import WRITE
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import typed
from compute.cli.output import terminal
from compute.cli.output.formats import show_data, show_names
from compute.cli.output.phrases import NONE, age, counted, listed
from compute.cli.output.tables import indented, plain, table
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session
from compute.cli.streams import show
from compute.decide.stored_values import (
    S,
    Store,
    ValueChange,
    changed_keys,
    merge_patch,
    refusal,
    with_values,
)
from compute.decide.validation.grammar import check_object_name
from compute.views.reading import ProjectReader
from compute.views.stored_values import StoreView, store_view, store_views
from kubekit.api.errors import AlreadyExists, NotFound
from kubekit.api.fields import Path
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.client.transport import ResourceLocation

_COLUMNS: Final = ("NAME", "KEYS", "USED BY", "AGE")
_WIDE: Final = ("NAME", "IMMUTABLE", "KEYS", "USED BY", "AGE")
_ALL: Final = 1000
_ATTEMPTS: Final = 5


@dataclass(frozen=True, slots=True)
class WrittenStore:
    """A ConfigMap or Secret after a change, and what the change did."""

    view: StoreView
    action: str  # created, updated or unchanged


def check_name(kind: type[Store], name: str) -> None:
    """Refuse a name that cannot be one, and those that only controllers use."""
    for error in check_object_name(Path("metadata.name"), name):
        raise click.UsageError(str(error))
    workload = history_workload(name)
    if kind is ConfigMap and workload is not None:
        raise Failure(
            f"{name} is the history of workload {workload}, which only its controller writes",
            next_step=f"compute rollout history {workload}",
        )


async def list_stores(session: Session, kind: type[S], output: str) -> Exit:
    """List the objects of the namespace: their keys, and which workloads use them."""
    reader = ProjectReader(session.client, session.namespace)
    stores, workloads = await asyncio.gather(reader.all(kind), reader.if_served(Workload))
    views = store_views(stores, workloads)
    singular = _singular(kind)
    if output == "name":
        show_names(singular, (view.name for view in views))
    elif output not in {"table", "wide"}:
        show_data(views, output)
    elif views:
        show(_table(session, views, wide=output == "wide"))
    else:
        where = f"{session.target.inside}, namespace {session.namespace}"
        notify(f"There are no {kind.RESOURCE.kind}s {where}.")
        notify(f"Create one with: {typed(f'compute {kind.RESOURCE.plural} set NAME KEY=VALUE')}")
    return Exit.OK


async def set_values(
    session: Session, kind: type[S], name: str, change: ValueChange, output: str
) -> Exit:
    """Set and remove keys of one object, and say which workloads need a restart to read them."""
    written = await _write(session, kind, name, change)
    singular = _singular(kind)
    if output == "name":
        show_names(singular, [name])
    elif output == "table":
        show(plain(f"{singular}/{name} {written.action}{_count(change, written)}"))
    else:
        show_data(written.view, output)
    if output in {"table", "name"}:
        _report_users(written)
    return Exit.OK


async def _write(session: Session, kind: type[S], name: str, change: ValueChange) -> WrittenStore:
    reader = ProjectReader(session.client, session.namespace)
    for _ in range(_ATTEMPTS):
        present, workloads = await asyncio.gather(
            session.client.find(kind, name, session.namespace), reader.if_served(Workload)
        )
        changed = changed_keys(present, change)
        if present is not None and not changed:
            return WrittenStore(store_view(present, workloads), "unchanged")
        if why := refusal(present, change):
            raise Failure(f"{_singular(kind)} {name} {why}", next_step=_list_of(kind))
        if present is None and not change.values:
            raise _missing(session, kind, name)
        try:
            stored = await _store(session, kind, name, change, present)
        except (AlreadyExists, NotFound) as error:
            if isinstance(error, NotFound) and present is None:
                raise  # the namespace does not exist
            continue  # another client has created or deleted it at the same moment
        action = "updated" if present else "created"
        return WrittenStore(store_view(stored, workloads, changed), action)
    raise Failure(
        f"{_singular(kind)} {name} is created and deleted by another client all the time; "
        "nothing was changed",
        Exit.CONFLICT,
        next_step=_list_of(kind),
    )


async def _store(
    session: Session, kind: type[S], name: str, change: ValueChange, present: S | None
) -> S:
    if present is None:
        metadata = ObjectMeta(name=name, namespace=session.namespace)
        return await session.client.create(with_values(kind(metadata=metadata), change), WRITE)
    location = ResourceLocation(kind.RESOURCE, session.namespace, name)
    return await session.client.merge(kind, location, merge_patch(kind, change), WRITE)


def _count(change: ValueChange, written: WrittenStore) -> str:
    """How many keys were set and removed."""
    if written.action == "unchanged":
        return ""
    changed = set(written.view.changed)
    parts = [
        f"{counted(len(keys), 'key')} {verb}"
        for keys, verb in (
            (changed & change.values.keys(), "set"),
            (changed & change.removed, "removed"),
        )
        if keys
    ]
    return f": {', '.join(parts)}"


def _report_users(written: WrittenStore) -> None:
    """Name the workloads that do not read the new values yet, and the command that makes each do so."""
    view = written.view
    if view.used_by is None:
        notify("Which workloads use it is not known, because they cannot be read.")
    if view.to_restart:
        one = len(view.to_restart) == 1
        notify(
            f"{'This workload reads' if one else 'These workloads read'} the new values "
            f"when {'it is' if one else 'they are'} restarted:"
        )
        commands = (typed(f"compute restart {name}") for name in view.to_restart)
        notify("\n".join(indented(plain(command) for command in commands)))


def _missing(session: Session, kind: type[Store], name: str) -> Failure:
    return Failure(
        f"there is no {_singular(kind)} {name} {session.target.inside}, "
        f"namespace {session.namespace}, so no key can be removed",
        Exit.NOT_FOUND,
        next_step=_list_of(kind),
        reason="NotFound",
    )


def _table(session: Session, views: Sequence[StoreView], *, wide: bool) -> str:
    rows = [_row(session, view, wide=wide) for view in views]
    headers = _WIDE if wide else _COLUMNS
    if wide and any(view.type for view in views):
        headers = (*headers, "TYPE")
        rows = [[*row, view.type or NONE] for row, view in zip(rows, views, strict=True)]
    return table(headers, rows, width=terminal.width(sys.stdout))


def _row(session: Session, view: StoreView, *, wide: bool) -> list[str]:
    most = _ALL if wide else 3
    users = "?" if view.used_by is None else listed((u.name for u in view.used_by), most)
    more = ["yes" if view.immutable else "no"] if wide else []
    keys = listed((key.name for key in view.keys), most)
    return [view.name, *more, keys, users, age(view.created_at, session.now())]


def _singular(kind: type[Store]) -> str:
    return kind.RESOURCE.kind.lower()


def _list_of(kind: type[Store]) -> str:
    return f"compute {kind.RESOURCE.plural} list"
