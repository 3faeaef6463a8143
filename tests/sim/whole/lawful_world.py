"""A court for laws: a judge, and a small world whose commits are written by hand.

It has a project ``shop`` with a Workload ``web`` of two Instances in DFW, all of it Ready and lawful. A
story goes on from there.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from compute.api import annotations, finalizers, gates, labels, names
from compute.api.compute import (
    Instance,
    InstanceControllerStatus,
    InstanceStatus,
    Workload,
    WorkloadDeployment,
)
from compute.api.karmada import ClusterSpec, ClusterStatus, MemberCluster
from compute.api.karmada_work import Work, WorkloadTemplate, WorkSpec
from compute.api.quota import (
    Allowance,
    GrantBucket,
    ObjectRef,
    ResourceClaim,
    ResourceClaimStatus,
    ResourceGrant,
    ResourceGrantSpec,
    ResourceGrantStatus,
)
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from compute.app.planes import CORE, HUB, PlaneRef
from compute.decide import budget, overrides, quota
from compute.decide.deployment.template import build_instance, recorded_hash
from compute.decide.federation import hub_deployment, policy, projection
from compute.decide.scheduling_gates import opened
from compute.decide.workload import placement
from compute.providers.machines import NODE, STARTED
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Condition, ConditionStatus, ObjectMeta
from tests.sim.whole.commit_builder import LAG, CommitBuilder
from tests.support.compute import builders
from tests.support.kubekit.virtual_time import run

SHOP: Final = PlaneRef("project", "shop")
BANK: Final = PlaneRef("project", "bank")
DFW: Final = PlaneRef("cell", "dfw")
LHR: Final = PlaneRef("cell", "lhr")
HUB_NAMESPACE: Final = names.hub_namespace("uid-of-default")
WEB: Final = "web-home-dfw"
_PROJECT: Final = names.cluster("shop")


class LawfulWorld(CommitBuilder):
    """The judge, and the world under judgement."""

    def settle(self) -> None:
        """Everything as it is once a Workload is served."""
        owner = ProjectOwnerRef(kind="Organization", name="acme")
        self.put(CORE, Project(metadata=_meta("shop"), spec=ProjectSpec(owner_ref=owner)))
        self.limit(3)
        for cell in (DFW, LHR):
            self.hear(cell)
        self.put(SHOP, Namespace(metadata=ObjectMeta(name="default", uid="uid-of-default")))
        upstream = {labels.UPSTREAM_CLUSTER: "cluster-shop", labels.UPSTREAM_NAMESPACE: "default"}
        for ref in (HUB, DFW, LHR):
            self.put(ref, Namespace(metadata=ObjectMeta(name=HUB_NAMESPACE, labels=upstream)))
        self.deploy(builders.workload("web", builders.placement("home", "DFW", replicas=2)))
        for ordinal in range(2):
            self.bring_up(ordinal)

    def limit(self, instances: int) -> None:
        """Let the project have so many Instances."""
        size = quota.INSTANCE_TYPES["datumcloud/d1-standard-2"]
        each = {quota.INSTANCES: 1, quota.VCPUS: size.millicores, quota.MEMORY: size.mebibytes}
        consumer = ObjectRef(api_group="resourcemanager.miloapis.com", kind="Project", name="shop")
        allowances = tuple(
            Allowance(resource_type=kind, buckets=(GrantBucket(amount=instances * amount),))
            for kind, amount in each.items()
        )
        self.put(
            CORE,
            ResourceGrant(
                metadata=_meta("shop-compute-quota"),
                spec=ResourceGrantSpec(allowances=allowances, consumer_ref=consumer),
                status=ResourceGrantStatus(conditions=(builders.condition("Active"),)),
            ),
        )

    def hear(self, cell: PlaneRef, status: ConditionStatus = "True") -> None:
        """Report on the hub whether a cell is reachable."""
        ready = builders.condition("Ready", status)
        self.put(
            HUB,
            MemberCluster(
                metadata=_meta(cell.name),
                spec=ClusterSpec(sync_mode="Push"),
                status=ClusterStatus(conditions=(ready,)),
            ),
        )

    def deploy(self, workload: Workload) -> None:
        """Bring a Workload down to its cell, or a change of it."""
        held = replace(workload.metadata, finalizers=(finalizers.WORKLOAD,))
        written = self.put(SHOP, replace(workload, metadata=held))
        (wanted,) = placement.split(written, (), ["DFW"], builders.NOW).create
        meta = replace(wanted.metadata, finalizers=(finalizers.FEDERATOR,))
        sent = self.put(SHOP, replace(wanted, metadata=meta))
        copy = hub_deployment(sent, _PROJECT, HUB_NAMESPACE)
        assert isinstance(copy, WorkloadDeployment)
        self.put(HUB, copy)
        self.put(HUB, policy("DFW", HUB_NAMESPACE))
        self.put(HUB, work(copy))
        meta = replace(copy.metadata, finalizers=(finalizers.WORKLOAD,))
        self.put(DFW, replace(copy, metadata=meta))

    def scale(self, replicas: int) -> None:
        """Ask for so many Instances."""
        self.deploy(self._workload(replicas=replicas))

    def roll(self, image: str) -> None:
        """Ask for another image."""
        self.deploy(self._workload(image=image))

    def pause(self) -> None:
        """Hold changes of the template back."""
        self.deploy(self._annotated({annotations.PAUSED: "true"}))

    def request(self, *ordinals: int) -> None:
        """Ask for these Instances to be replaced."""
        asked = (names.instance(WEB, ordinal) for ordinal in ordinals)
        present = self.get(SHOP, Workload, "web")
        self.deploy(overrides.replaced(present, asked, builders.NOW))

    def let_roll_together(self, most: str) -> None:
        """Let so many Instances be down at a time while they are replaced."""
        annotated = self._annotated({annotations.MAX_UNAVAILABLE: most})
        self.deploy(replace(self._workload(policy="Parallel"), metadata=annotated.metadata))

    def make(self, ordinal: int, *, of: WorkloadDeployment | None = None, **meta: Any) -> Instance:
        """An Instance as its deployment makes it."""
        owner = of or self.get(DFW, WorkloadDeployment, WEB)
        made = build_instance(owner, ordinal, (gates.QUOTA,))
        known = replace(made.metadata, finalizers=(finalizers.CLAIM,), **meta)
        return self.put(DFW, replace(made, metadata=known))

    def claim(self, ordinal: int) -> ResourceClaim:
        """The claim of a slot, not answered yet."""
        instance = self.get(DFW, Instance, names.instance(WEB, ordinal))
        return self.put(
            SHOP,
            quota.claim(instance, project="shop", claim_namespace="default", source_cluster="dfw"),
        )

    def grant(self, ordinal: int) -> ResourceClaim:
        claim = self.get(SHOP, ResourceClaim, names.claim(names.instance(WEB, ordinal)))
        status: ResourceClaimStatus = budget.granted(claim, "shop", builders.NOW)
        return self.put(SHOP, replace(claim, status=status))

    def open(self, ordinal: int) -> Instance:
        """Let an Instance through its gate."""
        instance = self.get(DFW, Instance, names.instance(WEB, ordinal))
        return self.put(DFW, opened(instance, gates.QUOTA))

    def start(
        self, ordinal: int, node: str = "node-0", at: str = "2026-06-01T12:00:00Z"
    ) -> Instance:
        """Let the machine of an Instance run, since then."""
        meta = self.get(DFW, Instance, names.instance(WEB, ordinal)).metadata
        held = dict.fromkeys((*meta.finalizers, finalizers.SIMULATED))
        notes = meta.annotations | {NODE: node, STARTED: at}
        return self.meta(DFW, Instance, meta.name, finalizers=tuple(held), annotations=notes)

    def say(self, ordinal: int, status: ConditionStatus = "True") -> Instance:
        """Let an Instance be Ready, or not."""
        instance = self.get(DFW, Instance, names.instance(WEB, ordinal))
        kinds = ("Programmed", "Available", "Ready")
        said: tuple[Condition, ...] = tuple(builders.condition(kind, status) for kind in kinds)
        observed = InstanceControllerStatus(observed_template_hash=recorded_hash(instance))
        return self.put(
            DFW, replace(instance, status=InstanceStatus(conditions=said, controller=observed))
        )

    def bring_up(self, ordinal: int) -> Instance:
        """An Instance, from its creation until it is Ready. A slot may have its claim already."""
        self.make(ordinal)
        claim = names.claim(names.instance(WEB, ordinal))
        if (SHOP, ResourceClaim.RESOURCE.kind, claim) not in self._objects:
            self.claim(ordinal)
            self.grant(ordinal)
        self.open(ordinal)
        self.start(ordinal)
        return self.say(ordinal)

    def take_down(self, ordinal: int) -> None:
        """An Instance, from when it is to go until it has gone. Its claim stays."""
        name = names.instance(WEB, ordinal)
        self.ask(DFW, Instance, name)
        self.meta(DFW, Instance, name, finalizers=(finalizers.CLAIM,))
        self.remove(DFW, Instance, name)

    def show(self, ordinal: int) -> Instance:
        """What the project shows of an Instance."""
        instance = self.get(DFW, Instance, names.instance(WEB, ordinal))
        upstream = {labels.UPSTREAM_CLUSTER: "cluster-shop", labels.UPSTREAM_NAMESPACE: "default"}
        copy = replace(instance.metadata, labels=instance.metadata.labels | upstream)
        owner = self.get(SHOP, WorkloadDeployment, WEB)
        return self.put(SHOP, projection(replace(instance, metadata=copy), owner))

    def run_in(self, cell: PlaneRef, ordinal: int) -> None:
        """Let another cell run the machine of a slot; how the Instance came there is not asked."""
        here = self.get(DFW, Instance, names.instance(WEB, ordinal))
        there = replace(here.metadata, uid="", finalizers=(), annotations={}, owner_references=())
        twin = self.slip(cell, replace(here, metadata=there))
        held = replace(twin.metadata, finalizers=(finalizers.SIMULATED,))
        self.put(cell, replace(twin, metadata=held))

    @property
    def work_name(self) -> str:
        return names.work(HUB_NAMESPACE, WEB, WorkloadDeployment.RESOURCE.kind)

    def _annotated(self, values: dict[str, str]) -> Workload:
        """The Workload with these annotations."""
        found = self.get(SHOP, Workload, "web")
        return replace(found, metadata=replace(found.metadata, annotations=values))

    def _workload(self, *, replicas: int = -1, image: str = "", policy: str = "") -> Workload:
        """The Workload as it is, but for what is named."""
        found = self.get(SHOP, Workload, "web")
        (place,) = found.spec.placements
        scale = place.scale_settings
        scale = replace(
            scale,
            min_replicas=replicas if replicas >= 0 else scale.min_replicas,
            instance_management_policy=policy or scale.instance_management_policy,
        )
        template = builders.template(image) if image else found.spec.template
        places = (replace(place, scale_settings=scale),)
        return replace(found, spec=replace(found.spec, template=template, placements=places))


Story = Callable[[LawfulWorld], Coroutine[Any, Any, None]]


def violation_of(story: Story) -> str:
    """The violation in a story that starts in the lawful world."""

    async def main() -> str:
        world = LawfulWorld()
        world.settle()
        assert not world.judge.violation
        await story(world)
        return world.judge.violation

    return run(main())


async def later(seconds: float = 2 * LAG) -> None:
    """Let enough time pass that earlier states are no excuse any more."""
    await asyncio.sleep(seconds)


def work(copy: WorkloadDeployment) -> Work:
    """The Work of the engine for the cell of DFW."""
    manifest = msgspec.json.decode(msgspec.json.encode(copy))
    kind = WorkloadDeployment.RESOURCE.kind
    return Work(
        metadata=ObjectMeta(
            name=names.work(HUB_NAMESPACE, copy.metadata.name, kind),
            namespace=names.execution_namespace("dfw"),
            finalizers=("karmada.io/execution-controller",),
        ),
        spec=WorkSpec(workload=WorkloadTemplate(manifests=(manifest,))),
    )


def _meta(name: str) -> ObjectMeta:
    return ObjectMeta(name=name)
