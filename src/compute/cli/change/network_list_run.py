"""What `compute networks list` does."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Final

from compute.api.compute import Workload
from compute.api.networking import Network
from compute.cli.exits import Exit
from compute.cli.output import terminal
from compute.cli.output.formats import show_data, show_names
from compute.cli.output.phrases import age, listed
from compute.cli.output.tables import table
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.views.networks import NetworkView, network_views
from compute.views.reading import ProjectReader

_COLUMNS: Final = ("NAME", "READY", "RANGES", "USED BY", "AGE", "WHY")
_WIDE: Final = ("NAME", "READY", "RANGES", "IPAM", "FAMILIES", "MTU", "USED BY", "AGE", "WHY")
_READY: Final = {"True": "yes", "False": "no", "Unknown": "not yet"}
_ALL: Final = 1000


def run(output: str) -> int:
    """Run it. The arguments are those of the command."""
    return in_project(lambda session: _list(session, output))


async def _list(session: Session, output: str) -> int:
    reader = ProjectReader(session.client, session.namespace)
    networks, workloads = await asyncio.gather(reader.all(Network), reader.if_served(Workload))
    views = network_views(networks, workloads)
    if output == "name":
        show_names("network", (view.name for view in views))
    elif output not in {"table", "wide"}:
        show_data(views, output)
    elif views:
        show(_table(session, views, wide=output == "wide"))
    else:
        notify(f"There are no networks {session.target.inside}, namespace {session.namespace}.")
        notify("A workload needs one: compute networks create default")
    return Exit.OK


def _table(session: Session, views: Sequence[NetworkView], *, wide: bool) -> str:
    rows = [_row(session, view, wide=wide) for view in views]
    return table(_WIDE if wide else _COLUMNS, rows, width=terminal.width(sys.stdout))


def _row(session: Session, view: NetworkView, *, wide: bool) -> list[str]:
    more = [view.ipam, ",".join(view.families), str(view.mtu)] if wide else []
    used_by = "?" if view.used_by is None else listed(view.used_by, _ALL if wide else 3)
    return [
        view.name,
        _READY[view.ready],
        ",".join(view.ranges) or view.ipam.lower(),
        *more,
        used_by,
        age(view.created_at, session.now()),
        view.why,
    ]
