"""The Pod and the Service of an Instance."""

from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from compute.api import annotations, labels
from compute.api.compute import Instance
from compute.api.instance_spec import (
    Container,
    InterfaceNetworkPolicy,
    NamedPort,
    Volume,
    VolumeAttachment,
)
from compute.decide.pods.pod_plan import PodPlan, plan
from compute.decide.pods.pod_settings import PodSettings
from compute.decide.quota.sizes import INSTANCE_TYPES
from kubekit.api.kinds.network_policies import (
    IPBlock,
    NetworkPolicyIngressRule,
    NetworkPolicyPeer,
    NetworkPolicyPort,
)
from kubekit.api.kinds.pods import PodContainer, ResourceRequirements
from kubekit.api.kinds.value_sources import (
    ConfigMapVolumeSource,
    EnvVar,
    EnvVarSource,
    FieldRef,
    KeySelector,
    KeyToPath,
    ResourceFieldRef,
    SecretVolumeSource,
)
from kubekit.api.meta import LocalRef, with_metadata, with_spec
from kubekit.api.quantity import Quantity
from tests.support.compute.builders import instance
from tests.support.compute.pod_builders import with_container, with_containers

RESTRICTED = PodSettings()
HTTP = NamedPort(name="http", port=8080)


def planned(made: Instance, settings: PodSettings = RESTRICTED) -> PodPlan:
    result = plan(made, settings)
    assert isinstance(result, PodPlan), result
    return result


def container(made: Instance) -> PodContainer:
    return planned(made).pod.spec.containers[0]


def variable(path: str) -> EnvVar:
    return EnvVar(name="X", value_from=EnvVarSource(field_ref=FieldRef(field_path=path)))


def test_the_pod_is_the_instances():
    """It has its name, its identity, its owner and the hash of its template."""
    made = instance(
        uid="uid-i",
        labels={labels.CITY_CODE: "DFW", labels.INSTANCE_INDEX: "0", "sidecar.test/inject": "true"},
        annotations={"container.test/unconfined": "true"},
    )

    pod = planned(made).pod

    assert (pod.metadata.namespace, pod.metadata.name) == ("ns-1", "web-home-dfw-0")
    assert pod.metadata.labels == {
        labels.CITY_CODE: "DFW",
        labels.INSTANCE_INDEX: "0",
        labels.INSTANCE_UID: "uid-i",
    }
    assert pod.metadata.annotations == {annotations.TEMPLATE_HASH: "hash"}
    (owner,) = pod.metadata.owner_references
    assert (owner.kind, owner.name, owner.uid) == ("Instance", "web-home-dfw-0", "uid-i")
    assert owner.controller
    assert not owner.block_owner_deletion


def test_the_template_is_carried_over():
    made = with_container(
        instance(),
        image="web:2",
        command=("/srv/web",),
        args=("--listen=:8080",),
        env=(EnvVar(name="GREETING", value="hello"),),
        ports=(HTTP, NamedPort(name="dns", port=53, protocol="UDP")),
    )
    made = with_containers(
        made,
        *(made.spec.runtime.sandbox.containers if made.spec.runtime.sandbox else ()),
        image_pull_secrets=(LocalRef(name="registry"),),
    )

    pod = planned(made).pod
    (run,) = pod.spec.containers

    assert (run.name, run.image, run.command, run.args) == (
        "app",
        "web:2",
        ("/srv/web",),
        ("--listen=:8080",),
    )
    assert run.env == (EnvVar(name="GREETING", value="hello"),)
    ports = [(port.name, port.container_port, port.protocol) for port in run.ports]
    assert ports == [("http", 8080, "TCP"), ("dns", 53, "UDP")]
    assert pod.spec.image_pull_secrets == (LocalRef(name="registry"),)
    assert pod.spec.restart_policy == "Always"
    assert pod.spec.automount_service_account_token is False
    assert pod.spec.enable_service_links is False


def test_the_pod_is_restricted():
    """As the Pod Security Standard has it."""
    pod = planned(instance()).pod

    context = pod.spec.security_context
    assert context is not None
    assert context.run_as_non_root is True
    assert context.seccomp_profile is not None
    assert context.seccomp_profile.type == "RuntimeDefault"
    assert context.sysctls == ()
    security = pod.spec.containers[0].security_context
    assert security is not None
    assert security.allow_privilege_escalation is False
    assert security.run_as_non_root is True
    assert security.capabilities is not None
    assert security.capabilities.drop == ("ALL",)


def test_root_is_allowed_where_operators_say_so():
    pod = planned(instance(), PodSettings(allow_root=True)).pod

    context, security = pod.spec.security_context, pod.spec.containers[0].security_context
    assert context is not None
    assert security is not None
    assert context.run_as_non_root is None
    assert context.seccomp_profile is not None
    assert (security.run_as_non_root, security.capabilities) == (None, None)
    assert security.allow_privilege_escalation is False


@pytest.mark.parametrize(("port", "sysctls"), [(80, ["0"]), (1023, ["0"]), (1024, [])])
def test_a_program_that_is_not_root_may_listen_on_a_low_port(port, sysctls):
    pod = planned(with_container(instance(), ports=(NamedPort(name="http", port=port),))).pod

    assert pod.spec.security_context is not None
    assert [one.value for one in pod.spec.security_context.sysctls] == sysctls


def test_files_come_from_configmaps_and_secrets():
    items = (KeyToPath(key="token", path="api/token", mode=0o400),)
    volumes = (
        Volume(name="conf", config_map=ConfigMapVolumeSource(name="web-conf", default_mode=0o444)),
        Volume(name="keys", secret=SecretVolumeSource(secret_name="web-keys", items=items)),
    )
    mounts = (
        VolumeAttachment(name="conf", mount_path="/etc/web"),
        VolumeAttachment(name="keys", mount_path="/run/keys"),
    )

    pod = planned(
        with_spec(with_container(instance(), volume_attachments=mounts), volumes=volumes)
    ).pod

    assert [v.config_map for v in pod.spec.volumes] == [volumes[0].config_map, None]
    assert [v.secret for v in pod.spec.volumes] == [None, volumes[1].secret]
    found = [(m.name, m.mount_path, m.read_only) for m in pod.spec.containers[0].volume_mounts]
    assert found == [("conf", "/etc/web", True), ("keys", "/run/keys", True)]


def test_variables_from_elsewhere_are_resolved_by_the_kubelet():
    env = (
        EnvVar(
            name="A",
            value_from=EnvVarSource(config_map_key_ref=KeySelector(name="c", key="k")),
        ),
        EnvVar(
            name="B",
            value_from=EnvVarSource(secret_key_ref=KeySelector(name="s", key="k", optional=True)),
        ),
        EnvVar(
            name="C",
            value_from=EnvVarSource(resource_field_ref=ResourceFieldRef(resource="limits.cpu")),
        ),
        variable("status.podIP"),
    )

    assert container(with_container(instance(), env=env)).env == env


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "web-home-dfw-0"),
        ("metadata.namespace", "ns-1"),
        ("metadata.uid", "uid-0"),
        ("metadata.labels['app']", "a$$b$$(C)"),
        ("metadata.labels['missing']", ""),
        ("metadata.annotations['note']", "kept"),
    ],
)
def test_fields_of_the_instance_are_values(path, value):
    """The Pod has another uid, and not all of its labels. A kubelet must not expand a value."""
    made = with_metadata(instance(), labels={"app": "a$b$(C)"}, annotations={"note": "kept"})

    (found,) = container(with_container(made, env=(variable(path),))).env

    assert (found.value, found.value_from) == (value, None)


def test_one_container_gets_the_whole_instance_type():
    resources = container(instance()).resources

    assert resources is not None
    assert resources.limits == resources.requests == {"cpu": "1000m", "memory": "2048Mi"}


def test_containers_with_sizes_of_their_own_keep_them():
    own = ResourceRequirements(limits={"cpu": "2", "memory": "1Gi", "test/gpu": 1})

    resources = container(with_container(instance(), resources=own)).resources

    assert resources is not None
    assert resources.limits == resources.requests == own.limits


def test_half_a_size_is_no_size():
    own = ResourceRequirements(limits={"cpu": "2"})

    resources = container(with_container(instance(), resources=own)).resources

    assert resources is not None
    assert resources.limits == {"cpu": "1000m", "memory": "2048Mi"}


@given(st.integers(1, 20))
def test_containers_share_exactly_what_quota_was_claimed_for(count):
    """No more, since it was not granted, and no less, since it is paid for."""
    many = tuple(Container(name=f"c{number}", image="web:1") for number in range(count))
    size = INSTANCE_TYPES["datumcloud/d1-standard-2"]

    run = planned(with_containers(instance(), *many)).pod.spec.containers

    amounts = [one.resources.limits for one in run if one.resources]
    assert sum(Quantity.parse(a["cpu"]).milli_value() for a in amounts) == size.millicores
    memory = [Quantity.parse(a["memory"]).floor_units(Quantity.parse("1Mi")) for a in amounts]
    assert sum(memory) == size.mebibytes
    assert max(memory) - min(memory) < count


def test_a_service_for_the_ports():
    made = with_container(instance(uid="uid-i"), ports=(HTTP,))

    service = planned(made).service

    assert service is not None
    assert service.metadata.name == "web-home-dfw-0"
    assert service.metadata.owner_references == planned(made).pod.metadata.owner_references
    assert service.spec.selector == {labels.INSTANCE_UID: "uid-i"}
    (port,) = service.spec.ports
    assert (port.name, port.port, port.target_port, port.protocol) == ("http", 8080, 8080, "TCP")


def attached(policy: InterfaceNetworkPolicy | None) -> Instance:
    made = instance(uid="uid-i")
    (interface,) = made.spec.network_interfaces
    return with_spec(made, network_interfaces=(replace(interface, network_policy=policy),))


def test_the_rules_of_the_interface_are_those_of_the_pod():
    peers = (NetworkPolicyPeer(ip_block=IPBlock(cidr="10.0.0.0/8", except_=("10.9.0.0/16",))),)
    ports = (
        NetworkPolicyPort(port=8080, end_port=8090),
        NetworkPolicyPort(port="dns", protocol="UDP"),
        NetworkPolicyPort(port=1, protocol=""),
    )
    rules = (NetworkPolicyIngressRule(from_=peers, ports=ports), NetworkPolicyIngressRule())

    policy = planned(attached(InterfaceNetworkPolicy(ingress=rules))).policy

    assert policy is not None
    assert policy.metadata.name == "web-home-dfw-0"
    assert policy.spec.pod_selector.match_labels == {labels.INSTANCE_UID: "uid-i"}
    assert policy.spec.policy_types == ("Ingress",)
    first, second = policy.spec.ingress
    assert first.from_ == peers
    assert [(p.port, p.end_port, p.protocol) for p in first.ports] == [
        (8080, 8090, "TCP"),
        ("dns", None, "UDP"),
        (1, None, "TCP"),
    ]
    assert second == NetworkPolicyIngressRule()


def test_a_policy_without_rules_lets_nothing_in():
    """That is not the same as no policy."""
    policy = planned(attached(InterfaceNetworkPolicy())).policy

    assert policy is not None
    assert (policy.spec.policy_types, policy.spec.ingress) == (("Ingress",), ())
    assert planned(attached(None)).policy is None


def test_no_ports_no_service():
    assert planned(instance()).service is None


def test_a_service_has_a_name_that_starts_with_a_letter():
    made = with_container(instance(name="2048-home-dfw-0"), ports=(HTTP,))

    service = planned(made).service

    assert service is not None
    assert service.metadata.name.startswith("i-2048-home-dfw-0--")


ports = st.builds(
    NamedPort,
    name=st.sampled_from(["http", "admin", "dns"]),
    port=st.integers(1, 5),
    protocol=st.sampled_from(["", "TCP", "UDP"]),
)
port_lists = st.lists(ports, max_size=4, unique_by=lambda port: port.name)


@given(st.lists(port_lists, min_size=1, max_size=3))
def test_a_service_is_valid_whatever_the_containers_name_their_ports(per_container):
    """Names are there once, numbers once for each protocol, and every port can be reached."""
    many = tuple(
        Container(name=f"c{number}", image="web:1", ports=tuple(some))
        for number, some in enumerate(per_container)
    )

    service = planned(with_containers(instance(), *many)).service

    wanted: set[Any] = {(p.port, p.protocol or "TCP") for some in per_container for p in some}
    known = service.spec.ports if service else ()
    assert {(port.port, port.protocol) for port in known} == wanted
    assert len(known) == len(wanted) == len({port.name for port in known})
    assert (service is None) == (not wanted)


def test_a_plan_depends_on_the_instance_alone():
    """Two providers make the same Pod, and the spec is left as it was."""
    made = with_container(instance(), ports=(HTTP,))
    before = replace(made)

    assert plan(made, RESTRICTED) == plan(made, RESTRICTED)
    assert made == before
