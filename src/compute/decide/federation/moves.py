"""A deployment that the engine moves to another cell: what happens to the former cell's objects.

A cell may write only the objects that bear its name, so it cannot take over those of another cell.
Management assigns the copies to the new cell. A claim of the former cell shows that its machine may
still run: its copy is assigned once the claim is released, or after a time in which a cell that is
reachable stops its machines.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from compute.api import labels, names
from compute.api.compute import Instance
from compute.api.karmada_work import ResourceBinding
from compute.api.quota import ResourceClaim
from compute.decide.writes import Delete, Update
from kubekit.api.meta import Object, with_metadata

HANDOVER: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class MoveStep:
    """The writes that are due now, and when the next ones are, if any are left."""

    copies: tuple[Update[Instance], ...] = ()
    claims: tuple[Delete[ResourceClaim], ...] = ()
    wait: timedelta | None = None


def chosen_cell(binding: ResourceBinding | None) -> str | None:
    """The only cell of a binding. Without one, or with several, nothing is assigned."""
    cells = binding.spec.clusters if binding else ()
    return cells[0].name if len(cells) == 1 else None


def move_step(
    copies: Iterable[Instance], claims: Iterable[ResourceClaim], cell: str, waited: timedelta
) -> MoveStep:
    """What to write for a deployment that was moved to a cell, and has been for so long.

    Objects without a cell were written by another product, or by hand, and are left alone.
    """
    foreign = [claim for claim in claims if is_of_other(claim, cell)]
    is_over = waited >= HANDOVER
    held = () if is_over else {names.claim_instance(claim.metadata.name) for claim in foreign}
    return MoveStep(
        copies=tuple(
            _assigned(copy, cell)
            for copy in copies
            if is_of_other(copy, cell) and copy.metadata.name not in held
        ),
        claims=tuple(Delete(claim, unchanged=True) for claim in foreign if is_over),
        wait=HANDOVER - waited if held else None,
    )


def is_of_other(obj: Object, cell: str) -> bool:
    """Whether another cell wrote an object, and it is not being deleted.

    What a cell without a name wrote may be of this very cell, and is never taken from it.
    """
    writer = obj.metadata.labels.get(labels.SOURCE_CLUSTER, cell)
    return not (obj.deleting or writer == cell or names.is_unnamed_cell(writer))


def _assigned(copy: Instance, cell: str) -> Update[Instance]:
    own = copy.metadata.labels | {labels.SOURCE_CLUSTER: cell}
    return Update(copy, with_metadata(copy, labels=own))
