"""Laws of lineage: S4, S5, S7. No object exists without the object it was created for.

    Workload -> deployment in the project -> on the hub -> Work -> in the cell -> Instance
                                              and Instance -> copy on the hub -> projection

A link may be gone when the next one is created: it is enough that it was wanted recently.
"""

from typing import Any, Final

from compute.api import labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada_work import Work
from compute.app.planes import HUB, PlaneRef
from compute.decide import joins
from compute.decide.deployment.template import recorded_hash
from kubekit.api.kinds.core import Namespace
from tests.sim.whole.commits import Commit, Key, Lately, Laws, Notes
from tests.sim.whole.observed_state import PATIENCE, ObservedState, recently
from tests.sim.whole.removal_laws import RemovalLaws
from tests.sim.whole.shapes import Shapes, ordinal

PROJECTOR: Final = "projector"


class Lineage:
    """Records which Workloads and deployments were wanted recently."""

    def __init__(self, observed: ObservedState, shapes: Shapes, removals: RemovalLaws) -> None:
        self._observed = observed
        self._shapes = shapes
        self._removals = removals
        self._wanted: dict[tuple[PlaneRef, str, Key], Lately[str]] = {}  # uids; empty: not wanted
        self.laws: Laws = {
            ("project", "WorkloadDeployment"): (self.s5_a_deployment_is_made_for_what_is_wanted,),
            ("project", "Instance"): (
                self.s4_a_projection_has_its_deployment,
                self.s7_projections_are_the_projectors,
            ),
            ("hub", "WorkloadDeployment"): (
                self.s5_a_deployment_is_made_for_what_is_wanted,
                self.s5_a_deployment_leaves_the_hub_after_its_original,
            ),
            ("hub", "Work"): (self.s5_a_work_is_made_for_what_is_wanted,),
            ("cell", "WorkloadDeployment"): (self.s5_a_deployment_is_made_for_what_is_wanted,),
            ("cell", "Instance"): (
                self.s5_an_instance_is_made_for_what_is_wanted,
                self.s5_no_instance_is_made_for_a_workload_that_is_gone,
            ),
        }
        self.notes: Notes = {
            ("project", "Workload"): self.note,
            ("project", "WorkloadDeployment"): self.note,
            ("hub", "WorkloadDeployment"): self.note,
            ("hub", "Work"): self.note,
        }

    def note(self, commit: Commit[Any]) -> None:
        """A Workload, a deployment in project or hub, or a Work changed."""
        place = commit.ref, commit.head.kind, commit.key
        kept = self._wanted.setdefault(place, Lately(self._observed.lag))
        kept.note(commit.at, "" if commit.gone or commit.head.deleting else commit.uid)

    def s4_a_projection_has_its_deployment(self, commit: Commit[Instance]) -> str:
        """What a project shows of an Instance is owned by the deployment of that name beside it."""
        if commit.gone:
            return ""
        kind, owners = WorkloadDeployment.RESOURCE.kind, commit.obj.metadata.owner_references
        if len(owners) != 1 or owners[0].kind != kind:
            return f"it is owned by {[owner.kind for owner in owners]}"
        name = joins.deployment_name(commit.obj)
        if owners[0].name != name:
            return f"it is of {name}, and owned by {owners[0].name}"
        key = commit.key[0], name
        present = self._observed.find(commit.ref, WorkloadDeployment, key)
        known = [] if present is None else [present.metadata.uid]
        known += self._uids(commit.ref, WorkloadDeployment, key, commit.at)
        return "" if owners[0].uid in known else f"its owner {owners[0].uid} is not in the project"

    def s5_an_instance_is_made_for_what_is_wanted(self, commit: Commit[Instance]) -> str:
        """An Instance is made for a deployment that is there, in a slot and of a template it has."""
        if not commit.born:
            return ""
        shapes = [shape for shape in self._shapes.of(commit) if not shape.leaving]
        number, template = ordinal(commit.obj), recorded_hash(commit.obj)
        if not shapes:
            return "it was made for a deployment that is not there"
        if number is None or all(number >= shape.desired for shape in shapes):
            return "it was made in a slot that is not wanted"
        known = any(shape.template == template for shape in shapes)
        return "" if known else f"it was made of {template}, a template that its deployment lacks"

    def s5_no_instance_is_made_for_a_workload_that_is_gone(self, commit: Commit[Instance]) -> str:
        """After a Workload is gone nothing is made for it, where that could be known."""
        ended = self._removals.ended.get(commit.obj.metadata.labels.get(labels.WORKLOAD_UID, ""))
        if not commit.born or ended is None:
            return ""
        asked, gone = ended
        excused = self._observed.was_silent(commit.ref.name, asked) or gone - asked >= PATIENCE
        late = commit.at - gone > self._observed.lag
        return "it was made for a Workload that is gone" if late and not excused else ""

    def s5_a_deployment_is_made_for_what_is_wanted(self, commit: Commit[WorkloadDeployment]) -> str:
        """A deployment comes to a plane because that which it is made from was wanted of late."""
        if not commit.born:
            return ""
        ref, kind, key = self._origin(commit)
        if ref is None:
            return "its project is unknown"
        wanted = any(self._uids(ref, kind, key, commit.at))
        return "" if wanted else f"it was made, and {kind.__name__} {'/'.join(key)} is not wanted"

    def s5_a_work_is_made_for_what_is_wanted(self, commit: Commit[Work]) -> str:
        """A Work is made because the hub wanted its deployment recently."""
        for manifest in commit.obj.spec.workload.manifests if commit.born else ():
            key = manifest["metadata"].get("namespace", ""), manifest["metadata"]["name"]
            ours = manifest["kind"] == WorkloadDeployment.RESOURCE.kind
            if ours and not self._uids(HUB, WorkloadDeployment, key, commit.at):
                return f"it was made, and WorkloadDeployment {'/'.join(key)} is not wanted"
        return ""

    def s5_a_deployment_leaves_the_hub_after_its_original(
        self, commit: Commit[WorkloadDeployment]
    ) -> str:
        """A deployment goes from the hub because its project does not want it any more."""
        ref, kind, key = self._origin(commit)
        hub_namespace = self._observed.find(HUB, Namespace, ("", commit.key[0]))
        if not commit.leaves or ref is None or hub_namespace is None or hub_namespace.deleting:
            return ""
        states: list[str] = recently(self._wanted, (ref, kind.RESOURCE.kind, key), commit.at)
        return "it goes, and its project wants it" if states and all(states) else ""

    def s7_projections_are_the_projectors(self, commit: Commit[Instance]) -> str:
        """Only the projector writes what a project shows of an Instance."""
        writers = {entry.manager: None for entry in commit.obj.metadata.managed_fields}
        others = [writer for writer in writers if writer != PROJECTOR]
        return f"it was written by {others[0]}" if others and not commit.gone else ""

    def _origin(self, commit: Commit[WorkloadDeployment]) -> tuple[PlaneRef | None, type[Any], Key]:
        """What a deployment is made from: where it is, and its place there."""
        namespace, name = commit.key
        match commit.ref.role:
            case "project":
                return commit.ref, Workload, (namespace, commit.obj.spec.workload_ref.name)
            case "hub":
                origin = self._observed.whose(namespace)
                key = (origin.namespace if origin else "", name)
                return self._observed.project_of(namespace), WorkloadDeployment, key
            case _:
                cell = names.execution_namespace(commit.ref.name)
                return HUB, Work, (cell, names.work(namespace, name, commit.head.kind))

    def _uids(self, ref: PlaneRef, kind: type[Any], key: Key, now: float) -> list[str]:
        """The uids under which something was wanted of late."""
        states: list[str] = recently(self._wanted, (ref, kind.RESOURCE.kind, key), now)
        return [uid for uid in states if uid]
