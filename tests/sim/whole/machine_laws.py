"""Laws of machines: S1, S1b, S3b, S13, and the part of S15 about restarts.

A machine runs while the Instance in the cell carries the provider's finalizer. It starts with the
commit that puts it on, has stopped with the one that takes it off, and was started elsewhere when the
annotation that says since when it runs is another.
"""

from typing import Any

from compute.api import finalizers, labels, names
from compute.api.compute import Instance
from compute.api.conditions import ConditionType, NeighbourCondition
from compute.api.quota import ResourceClaim
from compute.app.planes import PlaneRef
from compute.decide import quota
from compute.decide.conditions import is_true
from compute.decide.scheduling_gates import closed
from compute.providers import settings
from compute.providers.machines import NODE, STARTED
from compute.providers.settings import MachineSettings
from kubekit.api.kinds.core import ConfigMap
from tests.sim.whole.commits import Commit, Key, Lately, Laws, Notes
from tests.sim.whole.observed_state import PATIENCE, ObservedState, recently
from tests.sim.whole.shapes import ordinal, owner_uid

Slot = tuple[PlaneRef, str, int]  # cell, uid of the deployment, number


class Machines:
    """Records the Instance of each slot, and which machines run."""

    def __init__(self, observed: ObservedState) -> None:
        self._observed = observed
        self._slots: dict[Slot, dict[str, None]] = {}  # the uids in each
        # machines by Instance, wherever they run
        self._started: dict[Key, dict[PlaneRef, float]] = {}
        self._behaviour: dict[PlaneRef, Lately[MachineSettings]] = {}
        self._excused: dict[tuple[PlaneRef, Key], None] = {}  # claims that vandals deleted
        self.laws: Laws = {
            ("project", "ResourceClaim"): (self.s3b_a_claim_outlives_its_machine,),
            ("cell", "Instance"): (
                self.s1_one_live_instance_per_slot,
                self.s1_one_machine_per_slot,
                self.s1b_a_machine_has_its_instance,
                self.s1b_a_machine_stops_only_with_its_instance,
                self.s3b_a_machine_has_a_granted_claim,
                self.s3b_quota_is_held_until_the_machine_stopped,
                self.s13_gates_only_open,
                self.s13_nothing_is_provisioned_behind_a_gate,
                self.s15_a_machine_moves_only_from_a_lost_node,
            ),
        }
        self.notes: Notes = {
            ("cell", "Instance"): self.note,
            ("cell", "ConfigMap"): self.note_settings,
            ("project", "ResourceClaim"): self.note_claim,
        }

    def note(self, commit: Commit[Instance]) -> None:
        slot = _slot(commit)
        if slot is not None:
            held = self._slots.setdefault(slot, {})
            held[commit.uid] = None
            if commit.gone:
                del held[commit.uid]
            if not held:
                del self._slots[slot]
        running = self._started.setdefault(commit.key, {})
        if commit.gone or not has_machine(commit.obj):
            running.pop(commit.ref, None)
        else:
            running.setdefault(commit.ref, commit.at)
        if not running:
            del self._started[commit.key]

    def note_settings(self, commit: Commit[ConfigMap]) -> None:
        if not settings.is_ours(commit.obj):
            return
        parsed = settings.parse({} if commit.gone else commit.obj.data)
        if isinstance(parsed, MachineSettings):
            kept = self._behaviour.setdefault(commit.ref, Lately(self._observed.lag))
            kept.note(commit.at, parsed)

    def note_claim(self, commit: Commit[ResourceClaim]) -> None:
        place = commit.ref, commit.key
        if commit.gone and commit.uid in self._observed.forgiven:
            self._excused[place] = None
        elif is_granted(commit.obj):
            self._excused.pop(place, None)

    def s1_one_live_instance_per_slot(self, commit: Commit[Instance]) -> str:
        """A deployment has at most one Instance under each of its numbers."""
        slot = _slot(commit)
        if commit.gone or slot is None:
            return ""
        others = [uid for uid in self._slots.get(slot, {}) if uid != commit.uid]
        return f"{others[0]} has the number {slot[2]} already" if others else ""

    def s1_one_machine_per_slot(self, commit: Commit[Instance]) -> str:
        """A machine starts in a cell only when no other reachable cell runs it."""
        if not starts(commit):
            return ""
        for ref, since in self._started.get(commit.key, {}).items():
            if ref != commit.ref and not self._observed.was_silent(ref.name, since):
                return f"its machine started while {ref.name} runs it too"
        return ""

    def s1b_a_machine_has_its_instance(self, commit: Commit[Instance]) -> str:
        """A machine starts for an Instance that is there, and it stops before that is gone."""
        held = commit.obj.metadata.finalizers
        if commit.born and (has_machine(commit.obj) or NODE in commit.obj.metadata.annotations):
            return "it was born with a machine"
        if commit.gone and finalizers.SIMULATED in held and len(held) > 1:
            return "it went while its machine runs"
        if commit.gone and finalizers.SIMULATED in held and not commit.obj.deleting:
            return "it went while its machine runs, without a deletion"
        return ""

    def s1b_a_machine_stops_only_with_its_instance(self, commit: Commit[Instance]) -> str:
        """A machine is given up only when its Instance is to go."""
        lost = commit.old is not None and has_machine(commit.old) and not has_machine(commit.obj)
        return "its machine was given up while it is wanted" if lost and not _ends(commit) else ""

    def s3b_a_machine_has_a_granted_claim(self, commit: Commit[Instance]) -> str:
        """A machine starts only when the claim of its own slot, made by its own cell, is granted."""
        if not starts(commit):
            return ""
        origin, meta = self._observed.whose(commit.key[0]), commit.obj.metadata
        project = self._observed.project_of(commit.key[0])
        if origin is None or project is None:
            return "its machine started, and its project is unknown"
        place = origin.namespace, names.claim(meta.name)
        claim = self._observed.find(project, ResourceClaim, place)
        if claim is None:
            excused = (project, place) in self._excused
            return "" if excused else "its machine started without a claim"
        return _fault(claim, commit)

    def s3b_a_claim_outlives_its_machine(self, commit: Commit[ResourceClaim]) -> str:
        """A claim is released, or loses its grant, only when its machine has stopped.

        A project that is deleted waits for that no longer than for anything else.
        """
        kept = is_granted(commit.obj) and not commit.obj.deleting and not commit.gone
        if kept or commit.old is None or not is_granted(commit.old):
            return ""
        cell = commit.obj.metadata.labels.get(labels.SOURCE_CLUSTER, "")
        hub_namespace = commit.obj.metadata.labels.get(labels.INSTANCE_NAMESPACE, "")
        name = names.claim_instance(commit.obj.metadata.name) or ""
        since = self._started.get((hub_namespace, name), {}).get(PlaneRef("cell", cell))
        if since is None or self._observed.was_silent(cell, since):
            return ""
        asked = self._observed.ending_since(commit.ref.name, commit.at)
        overdue = commit.at - asked >= PATIENCE
        return "" if overdue else f"it ended while the machine runs in {cell}"

    def s3b_quota_is_held_until_the_machine_stopped(self, commit: Commit[Instance]) -> str:
        """The finalizer that holds the quota is removed after the machine has stopped."""
        before = () if commit.old is None else commit.old.metadata.finalizers
        held = commit.obj.metadata.finalizers
        early = finalizers.CLAIM in before and finalizers.CLAIM not in held
        return "its quota was released while its machine runs" if early and _runs(commit) else ""

    def s13_gates_only_open(self, commit: Commit[Instance]) -> str:
        """A gate that was opened, or never was there, does not close again."""
        if commit.old is None:
            return ""
        new = [gate for gate in closed(commit.obj) if gate not in closed(commit.old)]
        return f"its gate {new[0]} was closed again" if new else ""

    def s13_nothing_is_provisioned_behind_a_gate(self, commit: Commit[Instance]) -> str:
        """While a gate is closed there is no machine, and nothing is programmed."""
        gates = closed(commit.obj)
        up = is_true(commit.obj.status.conditions, ConditionType.PROGRAMMED)
        if gates and (up or has_machine(commit.obj)):
            return f"it is provisioned behind its gate {gates[0]}"
        return ""

    def s15_a_machine_moves_only_from_a_lost_node(self, commit: Commit[Instance]) -> str:
        """A machine that runs is started again only when its node has failed."""
        old = commit.old
        if old is None or not has_machine(old) or not has_machine(commit.obj):
            return ""
        before, now = (each.metadata.annotations for each in (old, commit.obj))
        if before.get(STARTED) == now.get(STARTED):
            return ""
        node = before.get(NODE, "")
        ruled = recently(self._behaviour, commit.ref, commit.at)
        lost = any(each.is_lost(node, commit.obj.metadata.name) for each in ruled)
        return "" if lost else f"its machine was started again, and {node} had not failed"


def has_machine(instance: Instance) -> bool:
    """Whether a machine runs for an Instance, or is about to."""
    return finalizers.SIMULATED in instance.metadata.finalizers


def starts(commit: Commit[Instance]) -> bool:
    """Whether a machine starts with this commit."""
    before = commit.old is not None and has_machine(commit.old)
    return has_machine(commit.obj) and not before and not commit.gone


def is_granted(claim: ResourceClaim) -> bool:
    return is_true(claim.status.conditions, NeighbourCondition.GRANTED)


def _slot(commit: Commit[Instance]) -> Slot | None:
    uid, number = owner_uid(commit.obj), commit.obj.metadata.labels.get(labels.INSTANCE_INDEX, "")
    found = int(number) if number.isdecimal() else ordinal(commit.obj)
    return None if not uid or found is None else (commit.ref, uid, found)


def _fault(claim: ResourceClaim, commit: Commit[Instance]) -> str:
    """Why a claim is not one that a machine may run on; empty when it is."""
    claim_labels = claim.metadata.labels
    owner = claim_labels.get(labels.SOURCE_CLUSTER), claim_labels.get(labels.INSTANCE_NAMESPACE)
    if owner != (commit.ref.name, commit.key[0]):
        return f"its machine started on the claim of {owner}"
    if not is_granted(claim):
        return "its machine started, and its claim is not granted"
    if sorted(claim.spec.requests, key=_type) != sorted(quota.requests(commit.obj.spec), key=_type):
        return "its machine started on a claim of another size"
    return ""


def _type(request: Any) -> str:
    return str(request.resource_type)


def _ends(commit: Commit[Instance]) -> bool:
    return commit.gone or commit.obj.deleting


def _runs(commit: Commit[Instance]) -> bool:
    return has_machine(commit.obj) and not commit.gone
