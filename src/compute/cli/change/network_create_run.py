"""What `compute networks create` does."""

import asyncio
from datetime import timedelta
from typing import Final

from compute.api.networking import Network, NetworkIPAM, NetworkSpec
from compute.api.reasons import describe
from compute.cli.change.workload_change import WRITE
from compute.cli.exits import Exit, Failure
from compute.cli.output.formats import show_data, show_names
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.views.live import LiveObjects, live_objects
from compute.views.networks import NetworkView, network_view
from kubekit.api.errors import AlreadyExists
from kubekit.api.meta import ObjectMeta
from kubekit.client.options import ListOptions

_LIST: Final = "compute networks list"
_PATIENCE: Final = 60.0  # seconds; then the wait is repeated


def run(name: str, *, wait: bool, timeout: timedelta, output: str) -> int:
    """Run it. The arguments are those of the command."""
    return in_project(lambda session: _create(session, name, timeout if wait else None, output))


async def _create(session: Session, name: str, limit: timedelta | None, output: str) -> int:
    wanted = Network(
        metadata=ObjectMeta(name=name, namespace=session.namespace),
        spec=NetworkSpec(ipam=NetworkIPAM(mode="Auto")),
    )
    try:
        created = await session.client.create(wanted, WRITE)
    except AlreadyExists as error:
        raise Failure(
            f"there is a network {name} {session.target.inside} already; nothing was changed",
            Exit.CONFLICT,
            next_step=_LIST,
            reason=error.reason,
        ) from error
    view = network_view(created, ())
    if limit is not None:
        if output == "table":
            notify(f"network/{name} created; waiting until it can be used")
        view = await _ready(session, created, limit)
    _show(view, output, waited=limit is not None)
    return Exit.OK


def _show(view: NetworkView, output: str, *, waited: bool) -> None:
    if output == "name":
        show_names("network", [view.name])
    elif output == "table":
        show(f"network/{view.name} {'is ready' if waited else 'created'}")
    else:
        show_data(view, output)


async def _ready(session: Session, created: Network, limit: timedelta) -> NetworkView:
    """The network once it can be used. A limit of zero is none."""
    name = created.metadata.name
    one = ListOptions(field_selector=f"metadata.name={name}")
    async with live_objects(
        session.client, session.environment, session.namespace, Network, selectors={Network: one}
    ) as live:
        try:
            async with asyncio.timeout(limit.total_seconds() or None):
                return await _until_ready(live, created)
        except TimeoutError as error:
            raise _late(live, created) from error


async def _until_ready(live: LiveObjects, created: Network) -> NetworkView:
    await live.listed()
    while True:
        known = live.find(Network, created.metadata.name)
        if live.complete and (known is None or known.metadata.uid != created.metadata.uid):
            raise Failure(
                f"network {created.metadata.name} was deleted by another client",
                Exit.NOT_FOUND,
                next_step=_LIST,
            )
        if known and network_view(known).ready == "True":
            return network_view(known, ())
        await live.changed(_PATIENCE)


def _late(live: LiveObjects, created: Network) -> Failure:
    """Why the network was not ready in time."""
    name = created.metadata.name
    if live.lost_since is not None:
        return Failure(
            f"network {name} is created, but the server cannot be reached any more",
            Exit.UNKNOWN,
            next_step=_LIST,
        )
    view = network_view(live.find(Network, name) or created)
    reason = describe(view.reason)
    return Failure(
        f"network {name} is created, but cannot be used yet: {view.why}",
        Exit.BLOCKED if reason and reason.needs_action else Exit.TIMED_OUT,
        next_step=_LIST,
        reason=view.reason,
    )
