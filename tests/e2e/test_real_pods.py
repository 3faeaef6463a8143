"""The Pods of Instances and a real kube-apiserver, whose Pod Security is enforced."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from compute.api.compute import Instance
from compute.api.instance_spec import (
    Container,
    InterfaceNetworkPolicy,
    NamedPort,
    Volume,
    VolumeAttachment,
)
from compute.app.system_environment import system
from compute.decide.pods.pod_plan import PodPlan, plan
from compute.decide.pods.pod_settings import PodSettings
from compute.providers import pods
from kubekit.api.errors import Forbidden
from kubekit.api.kinds.core import Namespace, ServiceAccount
from kubekit.api.kinds.network_policies import (
    IPBlock,
    NetworkPolicyIngressRule,
    NetworkPolicyPeer,
    NetworkPolicyPort,
)
from kubekit.api.kinds.nodes import ClusterNode
from kubekit.api.kinds.pods import Pod, Service
from kubekit.api.kinds.value_sources import (
    ConfigMapVolumeSource,
    EnvVar,
    EnvVarSource,
    FieldRef,
    KeySelector,
    ResourceFieldRef,
    SecretVolumeSource,
)
from kubekit.api.meta import LocalRef, Object, ObjectMeta, with_metadata, with_spec, with_status
from kubekit.client.client import Client, K
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import load
from kubekit.client.options import DeleteOptions, WriteOptions
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.requests import cluster_name
from kubekit.runtime.scope import Scope
from tests.support.compute.builders import instance
from tests.support.compute.pod_builders import (
    WEB_PORT,
    with_container,
    with_containers,
    with_policy,
)
from tests.support.compute.pod_statuses import ready, runs
from tests.support.compute.provider_builders import machine

pytestmark = [pytest.mark.peer, pytest.mark.e2e, pytest.mark.slow]

DRY = WriteOptions(dry_run=True, field_validation="Strict")
NOW = DeleteOptions(grace_period_seconds=0)
ROOT = PodSettings(allow_root=True)


def variable(**source: Any) -> EnvVar:
    return EnvVar(name="X", value_from=EnvVarSource(**source))


def with_every_field() -> Instance:
    """An Instance with all that its sandbox can have."""
    key = KeySelector(name="some", key="k", optional=True)
    first = Container(
        name="web",
        image="registry.example.test/team/web:1",
        command=("/srv/web",),
        args=("--listen=:80",),
        env=(
            EnvVar(name="A", value="a$(B)"),
            EnvVar(name="B", value_from=EnvVarSource(config_map_key_ref=key)),
            EnvVar(name="C", value_from=EnvVarSource(secret_key_ref=key)),
            EnvVar(
                name="D", value_from=EnvVarSource(field_ref=FieldRef(field_path="metadata.name"))
            ),
            EnvVar(
                name="E", value_from=EnvVarSource(field_ref=FieldRef(field_path="status.podIP"))
            ),
            EnvVar(
                name="F",
                value_from=EnvVarSource(resource_field_ref=ResourceFieldRef(resource="limits.cpu")),
            ),
        ),
        ports=(NamedPort(name="http", port=80), NamedPort(name="dns", port=53, protocol="UDP")),
        volume_attachments=(
            VolumeAttachment(name="conf", mount_path="/etc/web"),
            VolumeAttachment(name="keys", mount_path="/run/keys"),
        ),
    )
    second = Container(name="side", image="side:1", ports=(NamedPort(name="http", port=81),))
    volumes = (
        Volume(name="conf", config_map=ConfigMapVolumeSource(name="c", default_mode=0o444)),
        Volume(name="keys", secret=SecretVolumeSource(secret_name="s", optional=True)),
    )
    rule = NetworkPolicyIngressRule(
        from_=(NetworkPolicyPeer(ip_block=IPBlock(cidr="10.0.0.0/8", except_=("10.9.0.0/16",))),),
        ports=(NetworkPolicyPort(port=80, end_port=90), NetworkPolicyPort(port="http")),
    )
    attached = replace(
        instance().spec.network_interfaces[0],
        network_policy=InterfaceNetworkPolicy(ingress=(rule, NetworkPolicyIngressRule())),
    )
    secrets = (LocalRef(name="registry"),)
    made = with_containers(instance(), first, second, image_pull_secrets=secrets)
    return with_spec(made, volumes=volumes, network_interfaces=(attached,))


MADE = {
    "bare": instance(),
    "ports": with_container(instance(), ports=(WEB_PORT,)),
    "every field": with_every_field(),
    "closed": with_policy(instance()),
    "a digit first": with_container(instance(name="2048-home-dfw-0"), ports=(WEB_PORT,)),
}


def on_real(
    server: Any, script: Callable[[Client, str], Awaitable[None]], level: str = "restricted"
) -> None:
    """Run a script with a client, and a namespace in which this level of Pod Security is enforced."""

    async def run() -> None:
        around = system()
        async with HttpClient(load(around, [server.kubeconfig]), around) as client:
            labels = {"pod-security.kubernetes.io/enforce": level}
            meta = ObjectMeta(generate_name="pods-", labels=labels)
            space = (await client.create(Namespace(metadata=meta))).metadata.name
            async with asyncio.timeout(60):
                await seen(client, ServiceAccount, "default", space)
                await script(client, space)

    asyncio.run(run())


async def seen(
    client: Client,
    kind: type[K],
    name: str,
    space: str,
    true: Callable[[K], object] = lambda _: True,
) -> K:
    """The object once it exists and ``true`` of it holds."""
    while True:
        found = await client.find(kind, name, space)
        if found is not None and true(found):
            return found
        await asyncio.sleep(0.05)


def planned(made: Instance, space: str, settings: PodSettings = ROOT) -> PodPlan:
    result = plan(with_metadata(made, namespace=space), settings)
    assert isinstance(result, PodPlan)
    return result


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_pods_and_services_are_admitted_in_a_restricted_namespace(real_server, made):
    """With strict validation, so no field is unknown and none is dropped."""

    async def script(client, space):
        built = planned(made, space, PodSettings())
        pod = await client.create(built.pod, DRY)
        assert pod.status.qos_class == "Guaranteed"
        assert pod.spec.security_context == built.pod.spec.security_context
        if built.policy is not None:
            policy = await client.create(built.policy, DRY)
            assert policy.spec == built.policy.spec
        if built.service is not None:
            service = await client.create(built.service, DRY)
            assert service.spec.selector == built.service.spec.selector

    on_real(real_server, script)


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_pods_that_may_be_root_are_admitted_in_a_baseline_namespace(real_server, made):
    """And nowhere stricter: the server says which rule they break."""

    async def script(client, space):
        await client.create(planned(made, space).pod, DRY)

    async def refused(client, space):
        with pytest.raises(Forbidden, match="violates PodSecurity"):
            await client.create(planned(made, space).pod, DRY)

    on_real(real_server, script, "baseline")
    on_real(real_server, refused)


def test_an_instance_runs_as_a_pod_until_it_is_deleted(real_server):
    """The provider on a real server; the test plays the scheduler and the kubelet."""

    async def script(client, space):
        async with provider(real_server):
            made = await client.create(with_metadata(ported(machine()), namespace=space))
            name = made.metadata.name
            service = await seen(client, Service, name, space)
            assert service.spec.cluster_ip
            node = await client.create(ClusterNode(metadata=ObjectMeta(generate_name="node-")))
            pod = await seen(client, Pod, name, space)
            await bind(real_server, client, pod, node.metadata.name)
            up = await seen(client, Instance, name, space, is_available)
            assert up.status.controller is not None
            (interface,) = up.status.network_interfaces
            assert interface.assignments.network_ip == "10.128.0.7"
            await client.delete(up)
            stopping = await seen(client, Pod, name, space, lambda found: found.deleting)
            assert (await client.get(Instance, name, space)).deleting
            await client.delete(stopping, NOW)
            await gone(client, Instance, name, space)
            assert await client.find(Service, name, space) is None
            await client.delete(node)

    on_real(real_server, script)


def ported(made: Instance) -> Instance:
    return with_container(made, ports=(WEB_PORT,))


def is_available(found: Instance) -> bool:
    return any(c.type == "Available" and c.status == "True" for c in found.status.conditions)


async def gone(client: Client, kind: type[Object], name: str, space: str) -> None:
    while await client.find(kind, name, space):  # noqa: ASYNC110 - another process has the event
        await asyncio.sleep(0.05)


async def bind(server: Any, client: Client, pod: Pod, node: str) -> None:
    """What a scheduler and a kubelet do to a Pod that starts."""
    about = pod.metadata
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": about.name}}
    path = f"/api/v1/namespaces/{about.namespace}/pods/{about.name}/binding"
    await asyncio.to_thread(
        subprocess.run,
        [server.kubectl, "--kubeconfig", server.kubeconfig, "create", "--raw", path, "-f", "-"],
        input=json.dumps({**binding, "target": target}),
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    bound = await client.get(Pod, about.name, about.namespace)
    container = replace(runs(), name=bound.spec.containers[0].name)
    up = with_status(
        bound,
        phase="Running",
        conditions=(ready(),),
        container_statuses=(container,),
        pod_ip="10.128.0.7",
    )
    await client.patch_status(bound, up)


@asynccontextmanager
async def provider(server: Any) -> AsyncIterator[None]:
    """The provider, as a manager runs it on a cell."""
    around, scope = system(), Scope("provider")
    cell = Clusters("cell", around, pods.CELL_SELECTORS)
    factory = ControllerFactory(around, Metrics(), "test")
    try:
        await cell.engage(
            cluster_name("real"), HttpClient(load(around, [server.kubeconfig]), around)
        )
        for controller in pods.controllers(cell, factory):
            controller.join()
            scope.spawn(controller.run(None), controller.name)
        yield
    finally:
        await scope.close()
        await cell.close()
