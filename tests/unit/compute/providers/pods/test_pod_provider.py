"""The provider of Pods: what it does for each Instance of a cell."""

import pytest
from msgspec.structs import replace

from compute.api import finalizers, labels
from compute.api.compute import Instance
from compute.api.instance_spec import InstanceResources, Volume, VolumeAttachment
from compute.api.reasons import Trait, has
from compute.providers import pods
from kubekit.api.kinds.core import ConfigMap, Secret
from kubekit.api.kinds.network_policies import NetworkPolicy
from kubekit.api.kinds.pods import Pod, Service
from kubekit.api.kinds.value_sources import (
    ConfigMapVolumeSource,
    EnvVar,
    EnvVarSource,
    KeySelector,
)
from kubekit.api.meta import with_spec
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reporting.metrics import Metrics
from tests.support.compute.kubelet import waiting
from tests.support.compute.pod_builders import (
    WEB_PORT,
    foreign_pod,
    pod_cell,
    pod_instance,
    pod_of,
    service_of,
    store,
    with_files,
    with_policy,
)
from tests.support.compute.pod_kinds import staged_pods
from tests.support.compute.provider_builders import (
    NS,
    addresses,
    live,
    message,
    name,
    say,
    seen,
    start,
    status_and_reason,
    ungate,
)


def test_an_instance_without_gates_becomes_a_pod_and_a_service(tmp_path):
    """It is programmed and available, echoes its template, and has the address of its Pod."""

    async def story(stage):
        await pod_cell(stage)
        before = len(stage.writes)

        await start(stage, pod_instance(ports=(WEB_PORT,)))
        done = await seen(stage)

        assert status_and_reason(done, "Programmed") == ("True", "Programmed")
        assert status_and_reason(done, "Ready") == ("Unknown", "Pending")
        assert done.status.controller is not None
        assert done.spec.controller is not None
        observed = done.status.controller.observed_template_hash
        assert observed == done.spec.controller.template_hash
        assert addresses(done) == ["10.9.0.7"]
        assert done.metadata.finalizers == (finalizers.PODS,)
        service = await service_of(stage)
        assert service.spec.selector == {labels.INSTANCE_UID: done.metadata.uid}
        pod = await pod_of(stage)
        assert pod.metadata.labels[labels.DEPLOYMENT_NAME] == "web-home-dfw"
        assert [o.uid for o in pod.metadata.owner_references] == [done.metadata.uid]
        await stage.rest()
        ours = [w for w in stage.writes[before:] if w[1].endswith("/instances")]
        assert len(ours) == 3  # made by the user; finalizer; status
        assert await stage.quiet() == []

    staged_pods(tmp_path, story)


def test_without_ports_there_is_no_service(tmp_path):
    async def story(stage):
        await pod_cell(stage)
        await start(stage, pod_instance())
        await seen(stage)
        assert (await stage.client("dfw").every(Service)).items == ()

    staged_pods(tmp_path, story)


def test_nothing_happens_while_gates_remain(tmp_path):
    """Neither a finalizer nor a Pod is written; when the last gate opens, both are."""

    async def story(stage):
        await pod_cell(stage)
        await start(stage, pod_instance(gates=("Network", "Quota")))
        await stage.rest()
        await ungate(stage, 0, "Quota")
        await stage.rest()
        waiting_one = await live(stage)
        assert waiting_one.metadata.finalizers == ()
        assert status_and_reason(waiting_one, "Programmed") == ("Unknown", "Pending")
        assert (await stage.client("dfw").every(Pod)).items == ()

        await ungate(stage, 0)
        await seen(stage)

    staged_pods(tmp_path, story)


def test_nothing_happens_while_quota_is_denied(tmp_path):
    """No Pod is created, and one that runs is not stopped; the conditions are those of quota."""

    async def story(stage):
        await pod_cell(stage)
        await start(stage, pod_instance(), pod_instance(1, gates=("Quota",)))
        await seen(stage)
        for ordinal in (0, 1):
            await say(stage, ordinal, "QuotaGranted", "False", "QuotaExceeded")
            await say(stage, ordinal, "Programmed", "False", "PendingQuota")
            await say(stage, ordinal, "Available", "False", "PendingQuota")
        await ungate(stage, 1)
        assert await stage.quiet() == []

        await say(stage, 0, "QuotaGranted", "True", "QuotaAvailable")
        await seen(stage)
        assert (await live(stage, 1)).metadata.finalizers == ()
        assert [p.metadata.name for p in (await stage.client("dfw").every(Pod)).items] == [name()]

    staged_pods(tmp_path, story)


def test_the_hash_is_echoed_before_the_pod_runs(tmp_path):
    """A node has the Pod, though its image cannot be pulled: the Instance is of its template."""

    async def story(stage):
        await pod_cell(stage)
        await start(stage, pod_instance(image="missing:1"))

        broken = await seen(stage, available="ImageUnavailable")

        assert status_and_reason(broken, "Programmed") == ("True", "Programmed")
        assert broken.status.controller is not None
        why = 'failed to pull and unpack image "missing:1": not found'
        assert message(broken) == f"The image missing:1 cannot be pulled: {why}"
        assert has("ImageUnavailable", Trait.TERMINAL)

    staged_pods(tmp_path, story)


@pytest.mark.parametrize(
    "cause", ["", ': ErrImagePull: failed to pull and unpack image "missing:1": not found']
)
def test_the_pause_between_two_pulls_changes_nothing(tmp_path, cause):
    """A kubelet reports the error, then its pause: the cause stays in the condition."""

    async def story(stage):
        nodes = await pod_cell(stage)
        await start(stage, pod_instance(image="missing:1"))
        before = await seen(stage, available="ImageUnavailable")
        pod = await pod_of(stage)
        paused = waiting("ImagePullBackOff", 'Back-off pulling image "missing:1"' + cause)
        backs_off = replace(pod.status.container_statuses[0], state=paused)

        status = replace(pod.status, container_statuses=(backs_off,))
        await nodes.client.patch_status(pod, replace(pod, status=status))
        await stage.rest()

        assert await live(stage) == before

    staged_pods(tmp_path, story)


def test_an_unschedulable_pod_is_explained_by_the_scheduler(tmp_path):
    """It is not programmed; when there is room it starts."""

    async def story(stage):
        nodes = await pod_cell(stage, full="0/1 nodes are available: 1 Insufficient cpu.")
        await start(stage, pod_instance())
        waiting_one = await seen(stage, available="Provisioning")

        assert status_and_reason(waiting_one, "Programmed") == ("False", "ProgrammingInProgress")
        assert waiting_one.status.controller is None
        assert message(waiting_one) == (
            "No node takes the Pod yet: 0/1 nodes are available: 1 Insufficient cpu."
        )
        nodes.full = ""
        await seen(stage)

    staged_pods(tmp_path, story)


def test_values_of_a_configmap_and_a_secret(tmp_path):
    """What is missing is named, one after the other, and the Instance starts once all is there."""

    async def story(stage):
        await pod_cell(stage)
        key = KeySelector(name="settings", key="colour")
        token = KeySelector(name="tokens", key="api")
        env = (
            EnvVar(name="COLOUR", value_from=EnvVarSource(config_map_key_ref=key)),
            EnvVar(name="TOKEN", value_from=EnvVarSource(secret_key_ref=token)),
        )
        await start(stage, pod_instance(env=env))

        broken = await seen(stage, available="ConfigurationError")
        container = "The container app cannot be created: "
        assert message(broken) == f'{container}configmap "settings" not found'
        await store(stage, ConfigMap, "settings", colour="red")

        def lacks_a_secret(instance):
            return message(instance) == f'{container}secret "tokens" not found'

        await stage.named("dfw", Instance, name(), NS, lacks_a_secret)
        await store(stage, Secret, "tokens", api="cw==")
        await seen(stage)

    staged_pods(tmp_path, story)


def test_files_that_cannot_be_mounted(tmp_path):
    """Only an event of the kubelet says why the containers are not created."""

    async def story(stage):
        await pod_cell(stage)
        await start(stage, with_files(pod_instance(), "web-conf"))

        broken = await seen(stage, available="ConfigurationError")
        assert message(broken) == (
            'The volume conf (ConfigMap web-conf) cannot be mounted: configmap "web-conf" not found'
        )
        await store(stage, ConfigMap, "web-conf", colour="red")
        await seen(stage, seconds=120.0)

    staged_pods(tmp_path, story)


def test_two_providers_of_a_cell_create_one_pod(tmp_path):
    """Safety does not rest on a lease: both work at the same time, with caches of their own."""

    async def story(stage):
        nodes = await pod_cell(stage)
        second = stage.role("second", pods.CELL_SELECTORS)
        await stage.engage("second", "dfw")
        factory = ControllerFactory(stage.environment, Metrics(), "second")
        stage.start(*pods.controllers(second, factory))
        instances = [pod_instance(ordinal, ports=(WEB_PORT,)) for ordinal in range(5)]

        await start(stage, *instances)
        for ordinal in range(5):
            await seen(stage, ordinal)
        await stage.rest()
        assert len(nodes.placed) == len(set(nodes.placed)) == 5
        for pod in (await stage.client("dfw").every(Pod)).items:
            await nodes.client.delete(pod)
        await stage.until(lambda: _placed(nodes, 10))
        await stage.rest()

        assert len(nodes.placed) == 10
        assert await stage.quiet() == []

    staged_pods(tmp_path, story)


def test_a_pod_that_was_deleted_is_created_again(tmp_path):
    """The Instance is unavailable meanwhile, and says why."""

    async def story(stage):
        nodes = await pod_cell(stage)
        await start(stage, pod_instance(ports=(WEB_PORT,)))
        await seen(stage)
        first, service = await pod_of(stage), await service_of(stage)

        await nodes.client.delete(first)
        stopping = await seen(stage, available="Stopping")
        assert "it is started again once its Pod is gone" in message(stopping)
        second = await pod_of(stage, true=lambda pod: pod.metadata.uid != first.metadata.uid)
        await seen(stage)
        assert [uid for uid, _ in nodes.placed] == [first.metadata.uid, second.metadata.uid]

        await stage.client("dfw").delete(service)
        renewed = await service_of(stage)
        assert renewed.metadata.uid != service.metadata.uid
        await stage.rest()
        assert (await pod_of(stage)).metadata.uid == second.metadata.uid

    staged_pods(tmp_path, story)


@pytest.mark.parametrize("kind", [Pod, Service, NetworkPolicy])
def test_an_object_of_others_is_not_touched(tmp_path, kind):
    """The Instance says which object is in the way, and starts once that is gone."""

    async def story(stage):
        await pod_cell(stage)
        theirs = foreign_pod() if kind is Pod else kind(metadata=foreign_pod().metadata)
        made = await stage.client("dfw").create(theirs)
        await start(stage, with_policy(pod_instance(ports=(WEB_PORT,))))

        blocked = await stage.named(
            "dfw",
            Instance,
            name(),
            NS,
            lambda i: status_and_reason(i, "Programmed") == ("False", "NameTaken"),
        )
        text = message(blocked, "Programmed")
        assert text == (
            f"There is a {kind.__name__} {NS}/{name()} already, which is not the platform's; remove it"
        )
        await stage.quiet(120.0)
        if kind is not Pod:  # nothing runs with less than it asks for
            assert (await stage.client("dfw").every(Pod)).items == ()
        present = await stage.client("dfw").get(kind, name(), NS)
        assert present.metadata.uid == made.metadata.uid

        gone = await stage.client("dfw").get(kind, name(), NS)
        await stage.client("dfw").delete(gone)
        await stage.named(
            "dfw",
            Instance,
            name(),
            NS,
            lambda i: status_and_reason(i, "Programmed") == ("True", "Programmed"),
        )
        await seen(stage)

    staged_pods(tmp_path, story)


@pytest.mark.parametrize("kind", [Service, NetworkPolicy])
def test_a_name_that_is_not_needed_may_be_taken(tmp_path, kind):
    """Without ports there is no Service, so that of others is not in the way."""

    async def story(stage):
        await pod_cell(stage)
        await stage.client("dfw").create(kind(metadata=foreign_pod().metadata))
        await start(stage, pod_instance())

        done = await seen(stage)

        assert status_and_reason(done, "Programmed") == ("True", "Programmed")

    staged_pods(tmp_path, story)


def test_what_cannot_be_a_pod_is_refused(tmp_path):
    """Nothing is created, and the field and the fix are named."""

    async def story(stage):
        await pod_cell(stage)
        instance = pod_instance(volume_attachments=(VolumeAttachment(name="conf"),))
        source = ConfigMapVolumeSource(name="web-conf")
        await start(stage, with_spec(instance, volumes=(Volume(name="conf", config_map=source),)))

        refused = await seen(stage, available="ConfigurationError")

        assert message(refused) == (
            "volumeAttachments[conf] of container app: a Pod has no devices; set mountPath"
        )
        assert status_and_reason(refused, "Programmed") == ("False", "ConfigurationError")
        assert refused.metadata.finalizers == ()
        assert await stage.quiet() == []

    staged_pods(tmp_path, story)


def test_an_edited_instance_does_not_stop_its_pod(tmp_path):
    """The deployment's controller puts the spec back; until then what runs is what counts."""

    async def story(stage):
        await pod_cell(stage)
        await start(stage, pod_instance())
        before = await seen(stage)
        pod = await pod_of(stage)
        sizes = InstanceResources(instance_type="unknown")
        runtime = replace(before.spec.runtime, resources=sizes)

        await stage.client("dfw").patch(before, with_spec(before, runtime=runtime))
        await stage.rest()

        after = await live(stage)
        assert after.status == before.status
        assert (await pod_of(stage)).metadata.uid == pod.metadata.uid

    staged_pods(tmp_path, story)


def test_what_others_say_is_left_alone(tmp_path):
    """Ready stays as the cell wrote it, and our own conditions are put back."""

    async def story(stage):
        await pod_cell(stage)
        await start(stage, pod_instance(gates=("Quota",)))
        await say(stage, 0, "Ready", "False", "SchedulingGatesPresent")
        await ungate(stage, 0)
        await seen(stage)
        await say(stage, 0, "Programmed", "False", "Wrong")

        done = await stage.named(
            "dfw",
            Instance,
            name(),
            NS,
            lambda i: status_and_reason(i, "Programmed") == ("True", "Programmed"),
        )
        assert status_and_reason(done, "Ready") == ("False", "SchedulingGatesPresent")

    staged_pods(tmp_path, story)


async def _placed(nodes, count):
    return len(nodes.placed) == count
