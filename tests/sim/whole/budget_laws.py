"""Laws of budgets: S3, and that a wanted slot keeps its grant."""

from collections.abc import Mapping

from compute.api import labels, names
from compute.api.quota import ResourceClaim, ResourceGrant
from compute.app.planes import CORE, PlaneRef
from compute.decide import budget
from tests.sim.whole.commits import Commit, Lately, Laws, Notes
from tests.sim.whole.machine_laws import is_granted
from tests.sim.whole.observed_state import PATIENCE, ObservedState, recently
from tests.sim.whole.shapes import Shapes

Amounts = Mapping[str, int]


class Budgets:
    """The sums of the granted claims and of the grants of each project."""

    def __init__(self, observed: ObservedState, shapes: Shapes) -> None:
        self._observed = observed
        self._shapes = shapes
        self._used: dict[PlaneRef, dict[str, int]] = {}
        self._limits: dict[str, Lately[Amounts]] = {}  # by project
        self.laws: Laws = {
            ("project", "ResourceClaim"): (
                self.s3_grants_stay_within_the_budget,
                self.s3_a_wanted_slot_keeps_its_grant,
            ),
        }
        self.notes: Notes = {
            ("project", "ResourceClaim"): self.note,
            ("core", "ResourceGrant"): self.note_grant,
        }

    def note(self, commit: Commit[ResourceClaim]) -> None:
        used = self._used.setdefault(commit.ref, {})
        if commit.old is not None:
            _add(used, granted(commit.old), -1)
        if not commit.gone:
            _add(used, granted(commit.obj), 1)

    def note_grant(self, commit: Commit[ResourceGrant]) -> None:
        """Note a changed grant. The observed state includes the change already."""
        project = commit.obj.spec.consumer_ref.name
        kept = self._limits.setdefault(project, Lately(self._observed.lag))
        kept.note(commit.at, budget.limits(self._observed.every(CORE, ResourceGrant), project))

    def drop(self, ref: PlaneRef) -> None:
        self._used.pop(ref, None)

    def s3_grants_stay_within_the_budget(self, commit: Commit[ResourceClaim]) -> str:
        """A claim is granted only if the sum of all granted claims stays within the project's budget.

        A budget that was lowered below what is in use takes nothing from anybody.
        """
        news = granted(commit.obj)
        if commit.gone or not news or (commit.old is not None and granted(commit.old)):
            return ""
        used = self._used.get(commit.ref, {})
        ruled: list[Amounts] = recently(self._limits, commit.ref.name, commit.at)
        for kind, amount in news.items():
            total = used.get(kind, 0) + amount
            most = max((limit.get(kind, 0) for limit in ruled), default=0)
            if total > most:
                return f"{total} of {kind} are granted, and the budget is {most}"
        return ""

    def s3_a_wanted_slot_keeps_its_grant(self, commit: Commit[ResourceClaim]) -> str:
        """The grant of a slot that was wanted all the time, in the same size, is not released.

        A roll at a full budget would come back one short: another claim waits for it.
        """
        claim_labels = commit.obj.metadata.labels
        cell, hub_namespace = (
            claim_labels.get(labels.SOURCE_CLUSTER, ""),
            claim_labels.get(labels.INSTANCE_NAMESPACE, ""),
        )
        parts = names.instance_parts(names.claim_instance(commit.obj.metadata.name) or "")
        if not commit.leaves or not is_granted(commit.obj) or parts is None:
            return ""
        if self._observed.was_silent(cell, commit.at - self._observed.lag):
            return ""  # its need is unknown, and it may be released
        if commit.at - self._observed.ending_since(commit.ref.name, commit.at) >= PATIENCE:
            return ""  # its project is deleted, and waits no longer for the cell
        shapes = self._shapes.named(PlaneRef("cell", cell), hub_namespace, parts[0], commit.at)
        needs = tuple(sorted(commit.obj.spec.requests, key=lambda each: each.resource_type))
        wanted = shapes and all(
            shape.desired > parts[1] and not shape.leaving and _sorted(shape.needs) == needs
            for shape in shapes
        )
        return f"it was given back, and slot {parts[1]} in {cell} was wanted" if wanted else ""


def granted(claim: ResourceClaim) -> dict[str, int]:
    """The amounts that a claim uses, by type: none until it is granted."""
    if not is_granted(claim):
        return {}
    given = {
        each.resource_type: each.allocated_amount
        for each in claim.status.allocations
        if each.status == "Granted"
    }
    return given or {each.resource_type: each.amount for each in claim.spec.requests}


def _add(sums: dict[str, int], amounts: Amounts, sign: int) -> None:
    for kind, amount in amounts.items():
        sums[kind] = sums.get(kind, 0) + sign * amount


def _sorted(needs: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(sorted(needs, key=lambda each: getattr(each, "resource_type", "")))
