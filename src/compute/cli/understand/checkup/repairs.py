"""What `compute doctor --fix` repairs. Nothing that has an effect is deleted."""

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Final

from compute.api.networking import Network, NetworkIPAM, NetworkSpec
from compute.app.world_folder import WorldFolder
from compute.cli.change.workload_change import WRITE, change_workload
from compute.cli.exits import Failure
from compute.cli.shell.prompts import can_ask, confirmed, notify
from compute.cli.shell.session import Session
from compute.decide.doctor import Finding, Fix
from compute.decide.doctor.project import DEFAULT_NETWORK
from compute.decide.overrides import pruned
from kubekit.api.errors import AlreadyExists, ApiError
from kubekit.api.meta import ObjectMeta


async def repair(session: Session, findings: Iterable[Finding], *, assume_yes: bool) -> bool:
    """Repair what is safe to repair. Whether anything was done."""
    done = False
    for finding in findings:
        if finding.fix is not None and _agreed(finding.fix, session, assume_yes=assume_yes):
            try:
                done = await _REPAIRS[finding.fix](session, finding) or done
            except (ApiError, Failure, OSError) as error:
                notify(f"Not fixed: {finding.check}: {error}")
    return done


def _remove(data: Path) -> bool:
    """Remove the state of a process that is gone. One that has started meanwhile keeps its own."""
    folder = WorldFolder(data.resolve())
    if folder.pid():
        return False
    folder.remove_state()
    notify(f"Fixed: removed up.json of a process that is gone from {folder.data}")
    return True


def _agreed(fix: Fix, session: Session, *, assume_yes: bool) -> bool:
    """Whether the user agrees to what creates something; the other repairs only tidy up."""
    if fix is not Fix.CREATE_NETWORK or assume_yes:
        return True
    if not can_ask():
        notify(f"Not fixed: network {DEFAULT_NETWORK}: -y creates it without a question")
        return False
    question = f"Create network {DEFAULT_NETWORK} {session.target.inside}?"
    return confirmed(question, default=True)


async def _prune(session: Session, finding: Finding) -> bool:
    changed = await change_workload(session, finding.subject, pruned)
    if changed.before.metadata.annotations == changed.after.metadata.annotations:
        return False
    notify(f"Fixed: removed entries without an effect from the annotations of {finding.subject}")
    return True


async def _remove_state(session: Session, _: Finding) -> bool:
    return session.target.world is not None and _remove(session.target.world)


async def _create_network(session: Session, _: Finding) -> bool:
    wanted = Network(
        metadata=ObjectMeta(name=DEFAULT_NETWORK, namespace=session.namespace),
        spec=NetworkSpec(ipam=NetworkIPAM(mode="Auto")),
    )
    try:
        await session.client.create(wanted, WRITE)
    except AlreadyExists:
        return True  # the checks are made again
    notify(f"Fixed: created network {DEFAULT_NETWORK} {session.target.inside}")
    return True


_REPAIRS: Final[dict[Fix, Callable[[Session, Finding], Awaitable[bool]]]] = {
    Fix.PRUNE_OVERRIDES: _prune,
    Fix.REMOVE_STATE: _remove_state,
    Fix.CREATE_NETWORK: _create_network,
}
