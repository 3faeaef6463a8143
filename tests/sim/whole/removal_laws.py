"""Laws of the order of removal: S9, S10. A policy outlasts its deployments, a Workload its machines.

An unreachable cell is not waited for, nor is one that answers and does nothing for five minutes.
"""

from collections.abc import Iterator
from typing import Any

from compute.api import labels, names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.api.resource_manager import Project
from compute.app.planes import HUB
from compute.decide import joins
from tests.sim.whole.commits import Commit, Key, Lately, Laws, Notes
from tests.sim.whole.machine_laws import has_machine
from tests.sim.whole.observed_state import PATIENCE, ObservedState, recently


class RemovalLaws:
    """Remembers when deletions were requested, and when policies were needed."""

    def __init__(self, observed: ObservedState) -> None:
        self.ended: dict[str, tuple[float, float]] = {}  # Workloads: when asked for, when gone
        self._observed = observed
        self._asked: dict[str, float] = {}  # when the deletion of an object was asked for, by uid
        self._born: dict[str, float] = {}  # when a deployment came to the hub, by uid
        self._needed: dict[Key, Lately[bool]] = {}  # policies, while a deployment is for them
        self._past: dict[tuple[str, str], None] = {}  # Workloads' deployments that are gone
        self.laws: Laws = {
            ("core", "Project"): (self.s10_a_project_goes_after_its_machines,),
            ("project", "Workload"): (self.s10_a_workload_goes_after_its_machines,),
            ("project", "WorkloadDeployment"): (self.s10_a_deployment_goes_after_its_machines,),
            ("hub", "PropagationPolicy"): (
                self.s9_a_policy_stays_while_it_is_needed,
                self.s9_a_policy_comes_only_when_it_is_needed,
            ),
        }
        self.notes: Notes = {
            ("project", "Workload"): self.note,
            ("project", "WorkloadDeployment"): self.note_deployment,
            ("hub", "WorkloadDeployment"): self.note_hub,
        }

    def note(self, commit: Commit[Any]) -> None:
        if commit.leaves:
            self._asked[commit.uid] = commit.at
        if commit.gone:
            asked = self._asked.pop(commit.uid, commit.at)
            if commit.head.kind == Workload.RESOURCE.kind:
                self.ended[commit.uid] = asked, commit.at

    def note_deployment(self, commit: Commit[WorkloadDeployment]) -> None:
        """What is left of a deployment that is gone was judged then, and is not its Workload's."""
        self.note(commit)
        place = commit.obj.spec.workload_ref.uid, commit.obj.metadata.name
        if commit.gone:
            self._past[place] = None
        else:
            self._past.pop(place, None)

    def note_hub(self, commit: Commit[WorkloadDeployment]) -> None:
        if commit.born:
            self._born[commit.uid] = commit.at
        if commit.gone:
            self._born.pop(commit.uid, None)
        policy = _policy(commit.obj)
        kept = self._needed.setdefault(policy, Lately(self._observed.lag))
        kept.note(commit.at, any(True for _ in self._served(policy)))

    def s9_a_policy_stays_while_it_is_needed(self, commit: Commit[PropagationPolicy]) -> str:
        """The policy of a city does not go while the hub has a live deployment there.

        A deployment that has just come finds it missing, and makes it again.
        """
        for deployment in self._served(commit.key) if commit.leaves else ():
            since = self._born.get(deployment.metadata.uid, commit.at)
            if not deployment.deleting and commit.at - since > self._observed.lag:
                return f"it goes, and {deployment.metadata.name} needs it"
        return ""

    def s9_a_policy_comes_only_when_it_is_needed(self, commit: Commit[PropagationPolicy]) -> str:
        """The policy of a city is made only for a deployment there, which may have gone since."""
        if not commit.born or any(recently(self._needed, commit.key, commit.at)):
            return ""
        return "it was made, and there is no deployment for it"

    def s10_a_workload_goes_after_its_machines(self, commit: Commit[Workload]) -> str:
        """A Workload is gone only when every reachable cell is empty of it."""
        return self._left(commit, commit.uid)

    def s10_a_deployment_goes_after_its_machines(self, commit: Commit[WorkloadDeployment]) -> str:
        """A deployment is gone from its project only when no reachable cell has any of it."""
        return self._left(commit, commit.obj.spec.workload_ref.uid)

    def s10_a_project_goes_after_its_machines(self, commit: Commit[Project]) -> str:
        """A Project is gone only when no reachable cell runs a machine of it."""
        name = commit.obj.metadata.name
        asked = self._observed.ending_since(name, commit.at)
        if not commit.gone or commit.at - asked >= PATIENCE:
            return ""
        hub_namespaces = dict.fromkeys(self._observed.hub_namespaces_of(name))
        for ref in self._observed.cells():
            if self._observed.was_silent(ref.name, asked):
                continue
            for instance in self._observed.every(ref, Instance):
                if instance.metadata.namespace in hub_namespaces and has_machine(instance):
                    return f"it is gone, and {instance.metadata.name} runs in {ref.name}"
        return ""

    def _left(self, commit: Commit[Any], workload: str) -> str:
        """What reachable cells still have of a Workload, or of one deployment of it."""
        asked = self._asked.get(commit.uid, commit.at)
        if not commit.gone or commit.at - asked >= PATIENCE:
            return ""
        for ref in self._observed.cells():
            if self._observed.was_silent(ref.name, asked):
                continue
            for instance in self._observed.every(ref, Instance):
                ours = instance.metadata.labels.get(labels.WORKLOAD_UID) == workload
                if ours and self._counts(commit, joins.deployment_name(instance)):
                    return f"it is gone, and {instance.metadata.name} in {ref.name} is not"
        return ""

    def _counts(self, commit: Commit[Any], deployment: str) -> bool:
        """Whether what is gone had to wait for the Instances of a deployment."""
        if isinstance(commit.obj, WorkloadDeployment):
            return commit.obj.metadata.name == deployment
        return (commit.uid, deployment) not in self._past

    def _served(self, policy: Key) -> Iterator[WorkloadDeployment]:
        """The deployments on the hub that a policy is for."""
        for deployment in self._observed.every(HUB, WorkloadDeployment):
            if _policy(deployment) == policy:
                yield deployment


def _policy(deployment: WorkloadDeployment) -> Key:
    city = deployment.metadata.labels.get(labels.TOPOLOGY_CITY_CODE, "")
    return deployment.metadata.namespace, names.policy(city) if city else ""
