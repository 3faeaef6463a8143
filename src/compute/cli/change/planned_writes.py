"""Writing the changes of a deploy, whatever other clients write at the same time.

Controllers write the same objects all the time, and users may. A write is bound to the version that
was read. If that is not the newest any more, the change is made again on the newest version; it is
written if it is the change that the user has seen. Otherwise nothing is written: the other change
stays, and the user plans again.
"""

from typing import Final

from compute.api.compute import Workload
from compute.api.networking import Network, NetworkIPAM, NetworkSpec
from compute.cli.change.document_patch import patched
from compute.cli.change.planned_changes import PlannedChange
from compute.cli.change.workload_change import MANAGER
from compute.cli.exits import Exit, Failure
from compute.cli.shell.session import Session
from compute.decide.workload_edits.concurrent_changes import (
    ChangePair,
    is_same_change,
    other_writer,
)
from kubekit.api import times
from kubekit.api.errors import AlreadyExists, BadRequest, Conflict, NotFound
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import difference
from kubekit.client.options import WriteOptions

_ATTEMPTS: Final = 10
_UNKNOWN: Final = "unknown field"


async def written(session: Session, change: PlannedChange, *, dry_run: bool = False) -> Object:
    """The object after a change. With ``dry_run`` the server checks it and stores nothing."""
    # Strict: an older server drops fields that it does not know, unless it has to refuse them.
    options = WriteOptions(field_manager=MANAGER, field_validation="Strict", dry_run=dry_run)
    try:
        if change.existing is None:
            return await session.client.create(change.wanted, options)
        return await _patched(session, change, change.existing, options)
    except AlreadyExists as error:
        raise await _taken(session, change) from error
    except BadRequest as error:
        if _UNKNOWN not in error.message:
            raise
        raise Failure(
            f"the server does not know a field of {change.title}, it may be older than this "
            f"command: {error.message}",
            next_step="compute version",
            reason=error.reason,
        ) from error


async def create_network(session: Session, namespace: str, name: str) -> None:
    """Create a network that chooses its addresses by itself."""
    network = Network(
        metadata=ObjectMeta(name=name, namespace=namespace),
        spec=NetworkSpec(ipam=NetworkIPAM(mode="Auto")),
    )
    try:
        await session.client.create(network, WriteOptions(field_manager=MANAGER))
    except AlreadyExists:
        return  # another client was faster, which serves as well


async def _patched(
    session: Session, change: PlannedChange, existing: Object, options: WriteOptions
) -> Object:
    wanted = change.wanted
    for _ in range(_ATTEMPTS):
        try:
            return await patched(session.client, existing, wanted, options)
        except (Conflict, NotFound):
            existing = await _newest(session, change)
            wanted = change.make(existing)
            if not _is_same(change, existing, wanted):
                raise _changed(change, existing) from None
    raise _changed(change, existing)


async def _newest(session: Session, change: PlannedChange) -> Object:
    meta = change.wanted.metadata
    try:
        return await session.client.get(type(change.wanted), meta.name, meta.namespace)
    except NotFound as error:
        raise Failure(
            f"{change.title} was deleted by another client after the plan was made, and stays deleted",
            Exit.CONFLICT,
            next_step="compute workloads",
            reason="Conflict",
        ) from error


def _is_same(change: PlannedChange, newest: Object, wanted: Object) -> bool:
    shown = change.existing
    if isinstance(newest, Workload) and isinstance(shown, Workload):
        before = ChangePair(shown, _as_workload(change.wanted))
        return is_same_change(before, ChangePair(newest, _as_workload(wanted)))
    return shown is not None and difference(shown, change.wanted) == difference(newest, wanted)


def _as_workload(obj: Object) -> Workload:
    assert isinstance(obj, Workload)
    return obj


def _changed(change: PlannedChange, newest: Object) -> Failure:
    return Failure(
        f"{change.title} was changed{_by(change.existing, newest)} after the plan was made. That change "
        "stays, and yours was not written: run the command again to plan on the newest version",
        Exit.CONFLICT,
        next_step=_look(change),
        reason="Conflict",
    )


async def _taken(session: Session, change: PlannedChange) -> Failure:
    newest = await _newest(session, change)
    return Failure(
        f"{change.title} was created{_by(None, newest)} after the plan was made. It stays as it is, and "
        "yours was not written: run the command again to change it, or choose another name",
        Exit.CONFLICT,
        next_step=_look(change),
        reason="AlreadyExists",
    )


def _by(before: Object | None, newest: Object) -> str:
    """Who wrote last, and when, as far as the server tells."""
    entry = other_writer(before, newest)
    if entry is None:
        return " by another client"
    name = "another user of this command" if entry.manager == MANAGER else entry.manager
    when = f" at {times.format_time(entry.time)}" if entry.time else ""
    return f" by {name}{when}"


def _look(change: PlannedChange) -> str:
    is_workload = isinstance(change.wanted, Workload)
    return f"compute rollout history {change.wanted.metadata.name}" if is_workload else ""
