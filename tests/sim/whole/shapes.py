"""The current and recent specs of the deployments of a cell: the causes of its writes."""

from collections.abc import Mapping
from dataclasses import dataclass

from compute.api import labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.quota import ResourceRequest
from compute.app.planes import PlaneRef
from compute.decide import joins, quota
from compute.decide.deployment import replacements, rollout, slots
from compute.decide.deployment.template import template_hash
from kubekit.api import int_or_string
from tests.sim.whole.commits import Commit, Lately
from tests.sim.whole.observed_state import ObservedState, recently


@dataclass(frozen=True, slots=True)
class Shape:
    """The spec of one deployment. ``leaving``: it is being deleted, or gone."""

    uid: str
    desired: int
    template: str
    needs: tuple[ResourceRequest, ...]
    most: int  # Instances that a roll may have down at a time
    paused: bool
    leaving: bool
    requests: Mapping[int, str]  # the stamps of slots whose Instances the user asked to replace

    def asks_to_replace(self, instance: Instance) -> bool:
        """Whether the user asked to replace the Instance in this slot."""
        number = ordinal(instance)
        return number is not None and replacements.is_due(instance, self.requests.get(number))


class Shapes:
    """The shapes of each deployment of each cell, by name, since names outlive uids."""

    def __init__(self, observed: ObservedState) -> None:
        self._observed = observed
        self._kept: dict[tuple[PlaneRef, str, str], Lately[Shape]] = {}
        self._hashes: dict[str, tuple[int, str]] = {}  # generation and template, by uid

    def note(self, commit: Commit[WorkloadDeployment]) -> None:
        place = commit.ref, *commit.key
        kept = self._kept.setdefault(place, Lately(self._observed.lag))
        kept.note(commit.at, self._shape(commit.obj, gone=commit.gone))

    def named(self, ref: PlaneRef, namespace: str, name: str, now: float) -> list[Shape]:
        """The recent shapes under a name, whichever deployment had it."""
        found: list[Shape] = recently(self._kept, (ref, namespace, name), now)
        return found

    def of(self, commit: Commit[Instance]) -> list[Shape]:
        """The recent shapes of an Instance's deployment. None are known of one that never was."""
        name, uid = joins.deployment_name(commit.obj), owner_uid(commit.obj)
        found = self.named(commit.ref, commit.obj.metadata.namespace, name, commit.at)
        return [shape for shape in found if shape.uid == uid]

    def _shape(self, deployment: WorkloadDeployment, *, gone: bool) -> Shape:
        spec, settings = deployment.spec, rollout.settings_of(deployment)
        desired = 0 if gone else slots.desired(deployment)
        parallel = spec.scale_settings.instance_management_policy == "Parallel"
        share = (
            int_or_string.scaled(settings.max_unavailable, desired, round_up=False)
            if parallel
            else 1
        )
        return Shape(
            uid=deployment.metadata.uid,
            desired=desired,
            template=self._hash(deployment),
            needs=quota.requests(spec.template.spec),
            most=max(1, share),
            paused=settings.paused,
            leaving=gone or deployment.deleting,
            requests=replacements.stamps(deployment),
        )

    def _hash(self, deployment: WorkloadDeployment) -> str:
        """The template's hash. To make it takes longer than all the rest of a judgement."""
        meta = deployment.metadata
        generation, known = self._hashes.get(meta.uid, (0, ""))
        if generation != meta.generation:
            known = template_hash(deployment.spec.template)
            self._hashes[meta.uid] = meta.generation, known
        return known


def owner_uid(instance: Instance) -> str:
    """The uid of the deployment that an Instance is of."""
    controlling = (ref.uid for ref in instance.metadata.owner_references if ref.controller)
    return next(controlling, "") or instance.metadata.labels.get(labels.DEPLOYMENT_UID, "")


def ordinal(instance: Instance) -> int | None:
    """The number of an Instance's slot; None for a stray, whose name is no slot's."""
    parts = names.instance_parts(instance.metadata.name)
    return parts[1] if parts and parts[0] == joins.deployment_name(instance) else None
