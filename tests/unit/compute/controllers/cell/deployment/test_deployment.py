"""From a deployment to its Instances: startup, repair, deletion."""

import asyncio
from pathlib import Path

import msgspec

from compute.api import finalizers, labels
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.gates import NETWORK, QUOTA
from compute.api.networking import NetworkBinding
from compute.decide.conditions import find
from compute.decide.deployment.template import build_instance
from kubekit.api.errors import AlreadyExists, Forbidden, Invalid, Unavailable
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta, OwnerReference
from kubekit.client.client import Client
from kubekit.client.transport import ResourceLocation
from tests.support.compute.builders import deployment
from tests.support.compute.cell_neighbours import NAMESPACE, PLANE, cell, scaled
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage, staged


def available(of: WorkloadDeployment) -> tuple[str, str]:
    condition = find(of.status.conditions, "Available")
    return (condition.reason, condition.message) if condition else ("", "")


def test_a_deployment_comes_up(tmp_path: Path) -> None:
    """Instances are created in order, pass the Network gate, and are counted when Ready."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(3))
        done = await at.ready(3)
        assert done.status.location is not None
        assert done.status.location.name == "lab-dfw-1"
        assert done.metadata.finalizers == (finalizers.WORKLOAD,)
        assert await at.names() == ["web-home-dfw-0", "web-home-dfw-1", "web-home-dfw-2"]
        assert available(done) == ("StableInstanceFound", "3 of 3 instances ready")

    staged(tmp_path, story)


def test_a_new_instance_waits_at_both_gates(tmp_path: Path) -> None:
    """While the networks are not ready, an Instance is created with the gates Network and Quota."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.networks.silent = True
        await at.deploy()
        made = await stage.named(PLANE, Instance, "web-home-dfw-0", NAMESPACE)
        assert made.spec.controller is not None
        assert [gate.name for gate in made.spec.controller.scheduling_gates] == [NETWORK, QUOTA]
        assert made.metadata.finalizers == (finalizers.CLAIM,)
        assert made.spec.location is not None
        assert made.spec.location.name == "lab-dfw-1"

    staged(tmp_path, story)


def test_without_quota_nothing_has_to_be_cleaned_up(tmp_path: Path) -> None:
    """In a cell without quota an Instance has no finalizer for its claim."""

    async def story(stage: Stage) -> None:
        at = await cell(stage, quota=False)
        await at.deploy()
        made = await stage.named(PLANE, Instance, "web-home-dfw-0", NAMESPACE)
        assert made.metadata.finalizers == ()

    staged(tmp_path, story)


def test_at_rest_nothing_is_written(tmp_path: Path) -> None:
    """Once all are Ready, there is no write for a quarter of an hour."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(3))
        await at.ready(3)
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story)


def test_two_controllers_end_in_the_same_state(tmp_path: Path) -> None:
    """Two replicas create the same Instances, and then write nothing."""

    async def story(stage: Stage) -> None:
        at = await cell(stage, copies=2)
        await at.deploy(deployment(3))
        await at.ready(3)
        uids = [one.metadata.uid for one in await at.instances()]
        await stage.rest()
        assert await stage.quiet() == []
        assert [one.metadata.uid for one in await at.instances()] == uids

    staged(tmp_path, story)


def test_a_deleted_instance_is_created_again(tmp_path: Path) -> None:
    """An empty slot is filled, regardless of why it is empty."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(2))
        await at.ready(2)
        old = (await at.instances())[0]
        await at.client.delete(old)
        new = await stage.seen(PLANE, old, lambda one: one.metadata.uid != old.metadata.uid)
        await at.ready(2)
        assert new.metadata.labels[labels.INSTANCE_INDEX] == "0"

    staged(tmp_path, story)


def test_removed_labels_are_restored(tmp_path: Path) -> None:
    """An Instance keeps the labels that selectors use, and all its other labels."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy()
        await at.ready(1)
        made = (await at.instances())[0]
        await at.client.patch(made, with_meta(made, labels={"mine": "1"}))
        healed = await stage.seen(PLANE, made, lambda one: len(one.metadata.labels) > 1)
        assert healed.metadata.labels == made.metadata.labels | {"mine": "1"}
        assert healed.metadata.uid == made.metadata.uid

    staged(tmp_path, story)


def test_w7_an_instance_the_cache_does_not_show_is_not_an_error(tmp_path: Path) -> None:
    """An Instance that exists already is used as it is."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        await at.deploy(deployment(0))
        present = await at.reported(lambda one: one.status.observed_generation)
        at.transport.hold("Instance")
        made = await at.client.create(build_instance(present, 0, (NETWORK, QUOTA)))
        await at.client.patch(present, scaled(present, 1))
        seen = await at.reported(lambda one: one.status.replicas == 1)
        assert seen.status.desired_replicas == 1
        at.transport.hold()
        await at.ready(1)
        assert [one.metadata.uid for one in await at.instances()] == [made.metadata.uid]

    staged(tmp_path, story)


def test_w7_the_slot_of_another_is_waited_for(tmp_path: Path) -> None:
    """A slot whose name is taken by another Instance is reported, and filled when that is gone."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        before = deployment(uid="11111111-1111-1111-1111-111111111111")
        alien = build_instance(before, 0, ())
        alien = await at.client.create(with_meta(alien, owner_references=()))
        await at.deploy()
        seen = await at.reported(lambda one: "still has its name" in available(one)[1])
        assert available(seen)[0] == "InstancesProvisioning"
        await stage.rest()
        assert await stage.quiet() == []
        await at.client.delete(alien)
        await at.ready(1)

    staged(tmp_path, story)


def test_w8_only_instances_of_its_own_namespace_are_counted(tmp_path: Path) -> None:
    """An Instance of another namespace with the deployment's label is neither counted nor deleted."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        wanted = await at.deploy()
        await at.client.create(Namespace(metadata=ObjectMeta(name="ns-2")))
        twin = with_meta(build_instance(wanted, 5, ()), namespace="ns-2", owner_references=())
        await at.client.create(twin)
        done = await at.ready(1)
        assert done.status.replicas == 1
        assert await at.client.find(Instance, twin.metadata.name, "ns-2") is not None

    staged(tmp_path, story)


def test_a_label_takes_no_instance_from_its_owner(tmp_path: Path) -> None:
    """What another deployment controls is never deleted, whatever its labels say."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        first = await at.deploy()
        second = await at.deploy(deployment(name="api-home-dfw"))
        await at.ready(1)
        other = await stage.named(PLANE, Instance, "api-home-dfw-0", NAMESPACE)
        wrong = other.metadata.labels | {labels.DEPLOYMENT_UID: first.metadata.uid}
        await at.client.patch(other, with_meta(other, labels=wrong))
        right = second.metadata.uid
        healed = await stage.seen(
            PLANE, other, lambda one: one.metadata.labels[labels.DEPLOYMENT_UID] == right
        )
        assert healed.metadata.uid == other.metadata.uid
        assert not healed.deleting

    staged(tmp_path, story)


def test_w9_a_fault_of_the_quota_service_is_not_reported_as_a_lack_of_budget(
    tmp_path: Path,
) -> None:
    """The quota message of an Instance is reported with its name."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.networks.silent = True
        await at.deploy()
        made = await stage.named(PLANE, Instance, "web-home-dfw-0", NAMESPACE)
        quota = find(made.status.conditions, "QuotaGranted")
        assert quota is not None
        unreachable = msgspec.structs.replace(
            quota, status="False", reason="QuotaBackendUnavailable"
        )
        status = msgspec.structs.replace(made.status, conditions=(unreachable,))
        await at.client.patch_status(made, msgspec.structs.replace(made, status=status))

        def is_reported(one: WorkloadDeployment) -> bool:
            condition = find(one.status.conditions, "ReplicasReady")
            return condition is not None and condition.reason == "QuotaBackendUnavailable"

        await at.reported(is_reported)

    staged(tmp_path, story)


def test_an_instance_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    """An Instance that the cell refuses is named in the status, and created once it is admitted."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)

        def refuses(verb: str, place: ResourceLocation) -> Exception | None:
            wrong = verb == "create" and place.resource.kind == "Instance"
            return Invalid("spec.runtime: not here") if wrong else None

        at.transport.refuses = refuses
        await at.deploy(deployment(2, policy="Parallel"))
        seen = await at.reported(lambda one: available(one)[0] == "ConfigurationError")
        assert available(seen)[1] == (
            "0 of 2 instances ready; web-home-dfw-0: it cannot be created: spec.runtime: not here"
        )
        at.transport.refuses = lambda _verb, _place: None
        await at.ready(2)

    staged(tmp_path, story)


def test_a_refusal_that_is_not_the_users_error_is_not_reported_as_one(tmp_path: Path) -> None:
    """What the cell forbids its own controller is reported as provisioning."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)

        def refuses(verb: str, place: ResourceLocation) -> Exception | None:
            wrong = verb == "create" and place.resource.kind == "Instance"
            return Forbidden("the controller may not") if wrong else None

        at.transport.refuses = refuses
        await at.deploy()
        seen = await at.reported(lambda one: "the controller may not" in available(one)[1])
        assert available(seen)[0] == "InstancesProvisioning"

    staged(tmp_path, story)


def test_an_unreachable_cell_is_waited_for(tmp_path: Path) -> None:
    """While the API is unreachable nothing is lost; what is due is done when it is back."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.transport.refuses = lambda _verb, _place: Unavailable("unreachable")
        await at.deploy(deployment(2))
        await asyncio.sleep(120)
        assert await at.names() == []
        at.transport.refuses = lambda _verb, _place: None
        await at.ready(2)

    staged(tmp_path, story)


def test_an_instance_with_other_writers_passes_its_gate(tmp_path: Path) -> None:
    """A gate is opened on the live Instance, though the cache shows an older version."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.networks.silent = True
        await at.deploy()
        made = await stage.named(PLANE, Instance, "web-home-dfw-0", NAMESPACE)
        await stage.rest()

        def refuses(verb: str, place: ResourceLocation) -> Exception | None:
            if verb == "get" and place.resource.kind == "WorkloadDeployment":
                at.stage.scope.spawn(_touch(at.client, made), "touch")
            return None

        at.transport.refuses = refuses
        at.networks.silent = False
        binding = await at.client.get(NetworkBinding, "web-home-dfw-net-0", NAMESPACE)
        await at.client.patch(binding, with_meta(binding, annotations={"wake": "1"}))
        await at.ready(1)
        assert (await at.instances())[0].metadata.uid == made.metadata.uid

    staged(tmp_path, story)


async def _touch(client: Client, made: Instance) -> None:
    fresh = await client.get(Instance, made.metadata.name, made.metadata.namespace)
    count = str(int(fresh.metadata.annotations.get("touched", "0")) + 1)
    await client.patch(fresh, with_meta(fresh, annotations={"touched": count}))


def test_w7_a_name_that_is_free_again_is_used(tmp_path: Path) -> None:
    """An Instance that had the name, and is gone when it is read, is not reported."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        asked: list[str] = []

        def refuses(verb: str, place: ResourceLocation) -> Exception | None:
            if verb == "create" and place.resource.kind == "Instance" and not asked:
                asked.append(verb)
                return AlreadyExists("it was there")
            return None

        at.transport.refuses = refuses
        await at.deploy()
        await at.ready(1)

    staged(tmp_path, story)


def test_instances_that_changed_behind_the_cache_block_nothing(tmp_path: Path) -> None:
    """Opening gates skips Instances that are gone or deleting."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        at.networks.silent = True
        at.machines.stopping = 5.0
        await at.deploy(deployment(3, policy="Parallel"))
        await stage.named(PLANE, Instance, "web-home-dfw-2", NAMESPACE)
        await stage.rest()
        at.transport.hold("Instance")
        gone, going, left = await at.instances()
        await at.client.patch(gone, with_meta(gone, finalizers=()))
        await at.client.delete(gone)
        await at.client.delete(going)
        at.networks.silent = False
        binding = await at.client.get(NetworkBinding, "web-home-dfw-net-0", NAMESPACE)
        await at.client.patch(binding, with_meta(binding, annotations={"wake": "1"}))
        await stage.seen(PLANE, left, lambda one: NETWORK not in _gates(one))
        at.transport.hold()
        await at.ready(3)
        assert (await at.instances())[2].metadata.uid == left.metadata.uid

    staged(tmp_path, story)


def _gates(of: Instance) -> list[str]:
    return [gate.name for gate in of.spec.controller.scheduling_gates] if of.spec.controller else []


def test_instances_without_an_owner_and_of_other_owners_are_left_alone(tmp_path: Path) -> None:
    """An Instance without owner, label or name of a deployment requeues none."""

    async def story(stage: Stage) -> None:
        at = await cell(stage)
        owner = await at.deploy()
        await at.ready(1)
        (made,) = await at.instances()
        fresh = {"uid": "", "resource_version": "", "finalizers": (), "labels": {}}
        loose = with_meta(made, name="loose", owner_references=(), **fresh)
        space = await at.client.get(Namespace, NAMESPACE)
        held = with_meta(made, name="held", owner_references=(_controlled(space),), **fresh)
        kept = [await at.client.create(one) for one in (loose, held)]
        await stage.rest()
        for one in kept:
            assert await at.client.find(Instance, one.metadata.name, NAMESPACE) is not None
        assert (
            await at.client.get(WorkloadDeployment, owner.metadata.name, NAMESPACE)
        ).status.replicas == 1

    staged(tmp_path, story)


def _controlled(by: Namespace) -> OwnerReference:
    return by.reference(controller=True)
