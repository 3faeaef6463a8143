"""Stories of worlds with a wrong final state, each named after the law that it violates."""

from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from compute.api import annotations, labels
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import MemberCluster, PropagationPolicy
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.networking import NetworkBinding, NetworkContext, Subnet, SubnetClaim
from compute.api.quota import AllowanceBucket, ResourceClaim
from compute.api.resource_manager import Project
from compute.app.planes import CORE, HUB
from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import Object
from tests.sim.whole.plane_snapshots import DFW, LHR, SHOP, PlaneSnapshots
from tests.support.compute import builders

WEB = "web-home-dfw"
FIRST = "web-home-dfw-0"
OTHER = "registry.test/web:2"


def l1_workloads_are_split(snapshots: PlaneSnapshots) -> None:
    """A Workload lacks a deployment."""
    snapshots.drop(SHOP, WorkloadDeployment, WEB)


def l1_workloads_are_split__too_often(snapshots: PlaneSnapshots) -> None:
    """A Workload has one deployment too many."""
    snapshots.twin(SHOP, WorkloadDeployment, WEB, "web-away-dfw")


def l1_workloads_are_split__otherwise(snapshots: PlaneSnapshots) -> None:
    """A deployment has another template than its Workload."""
    snapshots.edit(SHOP, Workload, "web", _templated)


def l1_workloads_are_split__unpaused(snapshots: PlaneSnapshots) -> None:
    """A Workload is paused, and its deployment is not."""
    snapshots.edit(
        SHOP, Workload, "web", lambda w: _meta(w, annotations={annotations.PAUSED: "true"})
    )


def l1_deployments_arrive(snapshots: PlaneSnapshots) -> None:
    """A deployment is not on the hub."""
    snapshots.drop(HUB, WorkloadDeployment, WEB)


def l1_deployments_arrive__in_a_cell(snapshots: PlaneSnapshots) -> None:
    """A deployment is not in its cell."""
    snapshots.drop(DFW, WorkloadDeployment, WEB)


def l1_deployments_arrive__as_they_are(snapshots: PlaneSnapshots) -> None:
    """A cell has an old form of a deployment."""
    snapshots.edit(DFW, WorkloadDeployment, WEB, _templated)


def l1_deployments_arrive__in_their_city(snapshots: PlaneSnapshots) -> None:
    """A deployment is bound to no cell."""
    none: tuple[Any, ...] = ()
    snapshots.edit(
        HUB,
        ResourceBinding,
        f"{WEB}-workloaddeployment",
        lambda b: replace(b, spec=replace(b.spec, clusters=none)),
    )


def l1_slots_are_filled(snapshots: PlaneSnapshots) -> None:
    """A slot is empty."""
    snapshots.drop(DFW, Instance, FIRST)


def l1_slots_are_filled__by_the_newest(snapshots: PlaneSnapshots) -> None:
    """An Instance is of a template that its deployment has no more."""
    snapshots.edit(DFW, WorkloadDeployment, WEB, _templated)


def l1_slots_are_filled__and_ready(snapshots: PlaneSnapshots) -> None:
    """An Instance is not Ready, and nothing keeps it from being so."""
    snapshots.edit(DFW, Instance, FIRST, _unready)


def l1_slots_are_filled__and_no_more(snapshots: PlaneSnapshots) -> None:
    """There is an Instance beyond what is wanted."""
    snapshots.twin(DFW, Instance, FIRST, "web-home-dfw-7")


def l2_copies_equal_the_cell(snapshots: PlaneSnapshots) -> None:
    """The hub has no copy of an Instance."""
    snapshots.drop(HUB, Instance, FIRST)


def l2_copies_equal_the_cell__in_the_project(snapshots: PlaneSnapshots) -> None:
    """A project shows an Instance as it was."""
    snapshots.edit(SHOP, Instance, FIRST, _unready)


def l2_copies_equal_the_cell__of_that_cell(snapshots: PlaneSnapshots) -> None:
    """The hub's copy is said to be another cell's."""
    snapshots.edit(HUB, Instance, FIRST, lambda i: _labelled(i, labels.SOURCE_CLUSTER, "lhr"))


def l2_reports_equal_the_cell(snapshots: PlaneSnapshots) -> None:
    """A project says of a deployment what its cell does not."""
    snapshots.edit(SHOP, WorkloadDeployment, WEB, _miscounted)


def l3_everything_has_its_owner(snapshots: PlaneSnapshots) -> None:
    """Something is owned by what is not there."""
    snapshots.drop(CORE, Project, "shop")


def l3_claims_have_their_slots(snapshots: PlaneSnapshots) -> None:
    """A claim is for a slot that is not wanted."""
    snapshots.twin(SHOP, ResourceClaim, f"instance-{FIRST}", "instance-web-home-dfw-7")


def l3_claims_have_their_slots__and_machines_claims(snapshots: PlaneSnapshots) -> None:
    """A machine runs without a claim."""
    snapshots.drop(SHOP, ResourceClaim, f"instance-{FIRST}")


def l3_policies_are_needed(snapshots: PlaneSnapshots) -> None:
    """There is a policy for a city in which nothing runs."""
    snapshots.twin(HUB, PropagationPolicy, "city-dfw", "city-sin")


def l3_policies_are_needed__where_deployments_are(snapshots: PlaneSnapshots) -> None:
    """A deployment has no policy."""
    snapshots.drop(HUB, PropagationPolicy, "city-dfw")


def l3_bindings_and_works_are_needed(snapshots: PlaneSnapshots) -> None:
    """A Work is for nothing."""
    snapshots.twin(HUB, Work, _work_name(snapshots), "left-over")


def l3_namespaces_have_their_originals(snapshots: PlaneSnapshots) -> None:
    """A namespace of the hub stands for one that is gone."""
    snapshots.edit(HUB, Namespace, "", _renamed)


def l3_deployments_have_their_originals(snapshots: PlaneSnapshots) -> None:
    """A cell has a deployment that the hub has not."""
    snapshots.drop(HUB, WorkloadDeployment, WEB)


def l3_copies_have_their_originals(snapshots: PlaneSnapshots) -> None:
    """The hub has a copy of an Instance that is gone."""
    snapshots.drop(DFW, Instance, FIRST)


def l3_copies_have_their_originals__in_projects(snapshots: PlaneSnapshots) -> None:
    """A project shows an Instance that the hub has not."""
    snapshots.drop(HUB, Instance, FIRST)


def l3_deployments_have_their_workloads(snapshots: PlaneSnapshots) -> None:
    """A deployment is of a Workload that is gone."""
    snapshots.drop(SHOP, Workload, "web")


def l3_deployments_have_their_workloads__and_histories(snapshots: PlaneSnapshots) -> None:
    """A history is of a Workload that is gone."""
    history = "compute.datumapis.com-revision-history"
    snapshots.twin(SHOP, ConfigMap, f"{history}.web", f"{history}.gone")


def l3_networks_are_used(snapshots: PlaneSnapshots) -> None:
    """A network is set up in a cell without a binding."""
    snapshots.drop(DFW, NetworkBinding, f"{WEB}-net-0")


def l3_networks_are_used__by_claims(snapshots: PlaneSnapshots) -> None:
    """Addresses are given to a claim that is gone."""
    snapshots.drop(DFW, SubnetClaim, "default--dfw-0")


def l3_networks_are_used__by_a_binding(snapshots: PlaneSnapshots) -> None:
    """There is one context more than anybody is bound to."""
    snapshots.twin(LHR, NetworkContext, "default--lhr", "other--lhr")


def l3_networks_are_used__by_those_in_the_ledger(snapshots: PlaneSnapshots) -> None:
    """A project's ledger names a claim that never was."""
    snapshots.twin(SHOP, Subnet, "default--dfw-0.dfw", "other--dfw-0.dfw")


def l3_leases_are_of_the_living(snapshots: PlaneSnapshots) -> None:
    """A cell that is no member has a lease."""
    snapshots.twin(HUB, Lease, "dfw", "sin")


def l5_instances_say_whether_they_are_ready(snapshots: PlaneSnapshots) -> None:
    """An Instance is said to be Ready, and is not Available."""
    snapshots.edit(DFW, Instance, FIRST, lambda i: _said(i, "Available", status="False"))


def l5_instances_say_whether_they_are_ready__now(snapshots: PlaneSnapshots) -> None:
    """An Instance is Ready as of an earlier generation."""
    snapshots.edit(DFW, Instance, FIRST, lambda i: _said(i, "Ready", observed_generation=1))


def l5_deployments_count_their_instances(snapshots: PlaneSnapshots) -> None:
    """A deployment counts what is not there."""
    snapshots.edit(DFW, WorkloadDeployment, WEB, _miscounted)


def l5_deployments_count_their_instances__and_serve(snapshots: PlaneSnapshots) -> None:
    """A deployment with Ready Instances is not Available."""
    snapshots.edit(DFW, WorkloadDeployment, WEB, lambda d: _said(d, "Available", status="False"))


def l5_reports_are_of_the_right_generation(snapshots: PlaneSnapshots) -> None:
    """The report of a deployment is of an earlier spec."""
    snapshots.edit(SHOP, WorkloadDeployment, WEB, _older)


def l5_workloads_sum_up(snapshots: PlaneSnapshots) -> None:
    """A Workload counts what is not there."""
    snapshots.edit(SHOP, Workload, "web", _miscounted)


def l5_workloads_sum_up__now(snapshots: PlaneSnapshots) -> None:
    """The status of a Workload is of an earlier spec."""
    snapshots.edit(SHOP, Workload, "web", _older)


def l5_workloads_sum_up__and_serve(snapshots: PlaneSnapshots) -> None:
    """A Workload that is served says that it is not."""
    snapshots.edit(SHOP, Workload, "web", lambda w: _said(w, "Available", status="False"))


def l5_buckets_say_what_is_used(snapshots: PlaneSnapshots) -> None:
    """A bucket does not know of a claim."""
    snapshots.drop(SHOP, ResourceClaim, f"instance-{FIRST}")


def l5_buckets_say_what_is_used__of_what_there_is(snapshots: PlaneSnapshots) -> None:
    """A bucket says that there is more than was granted."""
    snapshots.edit(
        CORE, AllowanceBucket, "", lambda b: replace(b, status=replace(b.status, limit=9))
    )


def l5_members_and_projects_are_ready(snapshots: PlaneSnapshots) -> None:
    """The hub takes a cell for silent that answers."""
    snapshots.edit(HUB, MemberCluster, "dfw", lambda c: _said(c, "Ready", status="False"))


def l5_members_and_projects_are_ready__projects(snapshots: PlaneSnapshots) -> None:
    """A project says that it has no plane."""
    snapshots.edit(CORE, Project, "shop", lambda p: _said(p, "Ready", status="False"))


def l6_deletions_finish(snapshots: PlaneSnapshots) -> None:
    """Something is still on its way out."""
    leaving = builders.NOW + timedelta(seconds=1)
    snapshots.edit(HUB, Work, _work_name(snapshots), lambda w: _meta(w, deletion_timestamp=leaving))


def _meta(obj: Any, **changes: Any) -> Any:
    return replace(obj, metadata=replace(obj.metadata, **changes))


def _labelled(obj: Object, key: str, value: str) -> Any:
    return _meta(obj, labels=obj.metadata.labels | {key: value})


def _templated(obj: Any) -> Any:
    return replace(obj, spec=replace(obj.spec, template=builders.template(OTHER)))


def _said(obj: Any, kind: str, **changes: Any) -> Any:
    """The object with another word in one of its conditions."""
    conditions = tuple(
        replace(each, **changes) if each.type == kind else each for each in obj.status.conditions
    )
    return replace(obj, status=replace(obj.status, conditions=conditions))


def _unready(instance: Instance) -> Any:
    kinds = ("Programmed", "Available", "Ready")
    for kind in kinds:
        instance = _said(instance, kind, status="False", reason="Provisioning")
    return instance


def _miscounted(obj: Any) -> Any:
    return replace(obj, status=replace(obj.status, replicas=obj.status.replicas + 1))


def _older(obj: Any) -> Any:
    return replace(obj, status=replace(obj.status, observed_generation=0))


def _renamed(namespace: Namespace) -> Any:
    """The first namespace of the hub as one of a project that was deleted."""
    upstream = {labels.UPSTREAM_CLUSTER: "cluster-gone", labels.UPSTREAM_NAMESPACE: "default"}
    return _meta(namespace, name="ns-uid-of-none", labels=upstream)


def _work_name(snapshots: PlaneSnapshots) -> str:
    """The name of a Work that brings a deployment to a cell."""
    works = snapshots.reading.all(HUB, Work)
    return next(name for _, name in works if name.startswith(WEB))
