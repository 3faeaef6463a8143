"""The Workload that the flags of a deploy ask for: they change what they name, and nothing else."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from compute.api import annotations
from compute.api.compute import Workload
from compute.api.instance_spec import (
    Container,
    NamedPort,
    NetworkInterface,
    NetworkRef,
    Runtime,
    Volume,
    VolumeAttachment,
)
from compute.decide import validation
from compute.decide.workload_edits import DeployFlags, FlagError, desired
from compute.decide.workload_edits.deploy_flags import (
    Assignment,
    EnvironmentSource,
    FileSource,
    PortEdit,
)
from kubekit.api.kinds.value_sources import ConfigMapVolumeSource, EnvVar, EnvVarSource, KeySelector
from kubekit.api.meta import ObjectMeta, with_metadata, with_spec
from tests.support.compute.builders import instance_spec, placement, template, workload

META = ObjectMeta(name="web", namespace="default")


def changed(existing: Workload | None = None, **flags: Any) -> Workload:
    return desired(existing or workload(), DeployFlags(**flags), META)


def refused(existing: Workload | None = None, **flags: Any) -> str:
    with pytest.raises(FlagError) as error:
        changed(existing, **flags)
    return str(error.value)


def container(of: Workload, position: int = 0) -> Container:
    sandbox = of.spec.template.spec.runtime.sandbox
    assert sandbox is not None
    return sandbox.containers[position]


def with_containers(*containers: Container, **inner: Any) -> Workload:
    made = template()
    sandbox = made.spec.runtime.sandbox
    assert sandbox is not None
    runtime = replace(made.spec.runtime, sandbox=replace(sandbox, containers=containers))
    return workload(template=replace(made, spec=replace(made.spec, runtime=runtime, **inner)))


def machine() -> Workload:
    made = template()
    runtime = Runtime(resources=made.spec.runtime.resources)
    return workload(template=replace(made, spec=replace(made.spec, runtime=runtime)))


def test_a_new_workload_has_one_placement_and_one_container():
    """Everything that is not named has its default, and a server accepts the result."""
    made = desired(None, DeployFlags(image="nginx:1", cities=("DFW", "LHR")), META)

    assert msgspec.json.decode(msgspec.json.encode(made))["spec"] == {
        "placements": [
            {
                "cityCodes": ["DFW", "LHR"],
                "name": "default",
                "scaleSettings": {"instanceManagementPolicy": "OrderedReady", "minReplicas": 1},
            }
        ],
        "template": {
            "metadata": {},
            "spec": {
                "networkInterfaces": [{"network": {"name": "default"}}],
                "runtime": {
                    "resources": {"instanceType": "datumcloud/d1-standard-2"},
                    "sandbox": {"containers": [{"image": "nginx:1", "name": "app"}]},
                },
            },
        },
    }
    assert validation.validate(made, cities=("DFW", "LHR")).errors == ()


def test_a_new_workload_needs_an_image_and_a_city():
    """The errors name the flag that is missing."""
    with pytest.raises(FlagError, match="--image: there is no workload web yet"):
        desired(None, DeployFlags(cities=("DFW",)), META)
    with pytest.raises(FlagError, match="--city: say where it has to run"):
        desired(None, DeployFlags(image="nginx:1"), META)


def test_a_name_that_does_not_fit_is_refused_with_the_longest_that_does():
    """Labels have at most 63 characters."""
    flags = DeployFlags(image="nginx:1", cities=("DFW",))
    with pytest.raises(FlagError) as long:
        desired(None, flags, ObjectMeta(name="a" * 62 + "-b" * 4))
    with pytest.raises(FlagError, match='NAME: "Web" must be a DNS label'):
        desired(None, flags, ObjectMeta(name="Web"))

    assert long.value.problem == (
        f"the name has 70 characters, and at most 63 fit; the longest that fits is {'a' * 62}"
    )


def test_a_flag_changes_only_what_it_names():
    """Environment, containers, annotations, further placements and the restart stamp stay."""
    stamp = {annotations.RESTARTED_AT: "2026-06-01T12:00:00Z"}
    existing = workload(
        "web",
        placement("home", "DFW", replicas=3),
        placement("away", "LHR", instance_management_policy="Parallel"),
        template=template(annotations=stamp, labels={"tier": "front"}),
    )
    existing = with_metadata(existing, annotations={"example.com/owner": "shop"})
    after = changed(existing, image="web:2")

    assert container(after).image == "web:2"
    same = with_spec(after, template=existing.spec.template)
    assert same == existing


def test_no_flag_changes_nothing():
    """The same object is the sign that there is nothing to write."""
    existing = workload()

    assert changed(existing) is existing
    assert changed(existing, image="registry.test/web:1", cities=("DFW",)) is existing


def test_command_and_arguments_are_replaced_or_removed():
    """An empty list means those of the image."""
    after = changed(command=("python", "-m", "app"), args=("--port", "80"))

    assert container(after).command == ("python", "-m", "app")
    assert container(after).args == ("--port", "80")
    assert container(changed(after, command=(), args=())).command == ()


def test_variables_keep_their_order():
    """Another order would be another template, which replaces every Instance."""
    env = (EnvVar(name="A", value="1"), EnvVar(name="B", value="2"), EnvVar(name="C", value="3"))
    existing = with_containers(Container(name="app", image="web:1", env=env))
    after = changed(
        existing,
        env=(
            Assignment("B", "two"),
            Assignment("A", None),
            Assignment("D", "4"),
            Assignment("X", None),
        ),
    )

    assert [(v.name, v.value) for v in container(after).env] == [
        ("B", "two"),
        ("C", "3"),
        ("D", "4"),
    ]


def _ref(key: str, name: str = "db") -> EnvVarSource:
    return EnvVarSource(secret_key_ref=KeySelector(name=name, key=key))


def test_all_keys_of_a_secret_become_variables():
    """A key that is gone takes its variable along; those of other sources stay."""
    env = (
        EnvVar(name="PLAIN", value="1"),
        EnvVar(name="DB_old", value_from=_ref("old")),
        EnvVar(name="DB_user", value_from=_ref("user")),
        EnvVar(name="CHOSEN", value_from=_ref("old")),
        EnvVar(name="OTHER", value_from=_ref("old", "other")),
    )
    existing = with_containers(Container(name="app", image="web:1", env=env))
    source = EnvironmentSource("Secret", "db", "DB_", ("user", "password"))
    after = changed(existing, env_from=(source,))
    nameless = changed(env_from=(EnvironmentSource("Secret", "db", "", ("1st", "ok")),))

    assert [v.name for v in container(after).env] == [
        "PLAIN", "DB_user", "CHOSEN", "OTHER", "DB_password",
    ]  # fmt: skip
    assert container(after).env[-1].value_from == _ref("password")
    assert [v.name for v in container(nameless).env] == ["ok"]


def test_the_variables_of_a_source_are_removed_together():
    """``NAME-`` removes them, whatever their prefix."""
    config = EnvVarSource(config_map_key_ref=KeySelector(name="db", key="x"))
    env = (EnvVar(name="A", value_from=_ref("x")), EnvVar(name="B", value_from=config))
    existing = with_containers(Container(name="app", image="web:1", env=env))
    after = changed(existing, env_from=(EnvironmentSource("Secret", "db", removed=True),))
    again = changed(after, env_from=(EnvironmentSource("ConfigMap", "db", "", ("y",)),))

    assert [v.name for v in container(after).env] == ["B"]
    assert [v.name for v in container(again).env] == ["B", "y"]


def test_ports_are_merged_by_name():
    """A port without a protocol is one of TCP already, so it is not written again."""
    ports = (NamedPort(name="http", port=80), NamedPort(name="admin", port=81))
    existing = with_containers(Container(name="app", image="web:1", ports=ports))
    after = changed(
        existing,
        ports=(
            PortEdit("http", 80),
            PortEdit("admin"),
            PortEdit("gone"),
            PortEdit("dns", 53, "UDP"),
        ),
    )

    assert container(after).ports == (ports[0], NamedPort(name="dns", port=53, protocol="UDP"))


def test_files_of_a_source_are_mounted_and_removed():
    """The volume has the name of its source. It goes with its last attachment."""
    after = changed(files=(FileSource("ConfigMap", "app.conf", "/etc/app"),))
    both = changed(after, files=(FileSource("Secret", "app-conf", "/run/app"),))
    moved = changed(both, files=(FileSource("ConfigMap", "app.conf", "/etc/other"),))
    gone = changed(moved, files=(FileSource("Secret", "app-conf", None),))

    assert [v.name for v in both.spec.template.spec.volumes] == ["app-conf", "app-conf-secret"]
    assert container(both).volume_attachments == (
        VolumeAttachment(name="app-conf", mount_path="/etc/app"),
        VolumeAttachment(name="app-conf-secret", mount_path="/run/app"),
    )
    assert container(moved).volume_attachments[0].mount_path == "/etc/other"
    assert [v.name for v in gone.spec.template.spec.volumes] == ["app-conf"]
    assert validation.validate(both, cities=("DFW",)).errors == ()
    assert changed(files=(FileSource("Secret", "never", None),)) == workload()


def test_a_volume_of_another_container_stays():
    """Only the attachment of the container that is meant is removed."""
    shared = Volume(name="conf", config_map=ConfigMapVolumeSource(name="conf"))
    attached = (VolumeAttachment(name="conf", mount_path="/etc"),)
    existing = with_containers(
        Container(name="app", image="web:1", volume_attachments=attached),
        Container(name="side", image="side:1", volume_attachments=attached),
        volumes=(shared,),
    )
    after = changed(existing, files=(FileSource("ConfigMap", "conf", None),))

    assert container(after).volume_attachments == ()
    assert container(after, 1).volume_attachments == attached
    assert after.spec.template.spec.volumes == (shared,)


def test_the_container_is_app_or_the_named_one():
    """Of several containers without an ``app``, one has to be named."""
    several = with_containers(
        Container(name="app", image="a:1"), Container(name="side", image="b:1")
    )
    unnamed = with_containers(
        Container(name="one", image="a:1"), Container(name="two", image="b:1")
    )

    assert container(changed(several, image="a:2")).image == "a:2"
    assert container(changed(several, image="b:2", container="side"), 1).image == "b:2"
    problem = "the workload has the containers one, two; say which one with --container"
    assert refused(unnamed, image="a:2") == f"--image: {problem}"
    assert refused(unnamed, command=()) == f"--command: {problem}"
    assert refused(unnamed, args=()) == f"--args: {problem}"
    assert refused(unnamed, env=(Assignment("A", "1"),)) == f"--env: {problem}"
    assert refused(unnamed, ports=(PortEdit("http", 1),)) == f"--port: {problem}"
    assert refused(unnamed, files=(FileSource("Secret", "a", "/a"),)) == f"--container: {problem}"
    assert refused(several, image="x", container="no") == (
        '--container: there is no "no"; there are: app, side'
    )
    assert refused(several, container="side") == (
        "--container: give what to change there, such as --image or --env"
    )


def test_a_virtual_machine_has_no_container():
    """The flags of containers are refused, the others work."""
    assert refused(machine(), image="web:2") == (
        "--image: the workload is a virtual machine without containers"
    )
    assert "without images" in refused(machine(), image_pull_secrets=(Assignment("hub", ""),))
    assert changed(machine(), minimum=2).spec.placements[0].scale_settings.min_replicas == 2


def test_pull_secrets_are_added_and_removed():
    """Each once, in their order."""
    edits = (Assignment("hub", ""), Assignment("lab", ""), Assignment("hub", ""))
    after = changed(image_pull_secrets=edits)
    sandbox = changed(after, image_pull_secrets=(Assignment("hub", None), Assignment("no", None)))
    runtime = sandbox.spec.template.spec.runtime

    assert runtime.sandbox is not None
    assert [secret.name for secret in runtime.sandbox.image_pull_secrets] == ["lab"]


def test_labels_are_on_the_workload_and_its_instances():
    """``KEY-`` removes both."""
    after = changed(labels=(Assignment("tier", "front"), Assignment("no", None)))

    assert after.metadata.labels == after.spec.template.metadata.labels == {"tier": "front"}
    assert changed(after, labels=(Assignment("tier", None),)) == workload()


def test_type_network_and_limits_of_a_rollout():
    """An empty text removes the limit."""
    after = changed(instance_type="datumcloud/d1-huge", network="lab", max_unavailable="25%")
    spec = after.spec.template.spec

    assert spec.runtime.resources.instance_type == "datumcloud/d1-huge"
    assert spec.network_interfaces == (NetworkInterface(network=NetworkRef(name="lab")),)
    assert after.metadata.annotations == {annotations.MAX_UNAVAILABLE: "25%"}
    assert changed(after, max_unavailable="", network="lab").metadata.annotations == {}


def test_one_of_several_networks_cannot_be_meant():
    """What the second interface is for is not known."""
    inner = instance_spec()
    both = tuple(NetworkInterface(network=NetworkRef(name=name)) for name in ("a", "b"))
    existing = workload(template=replace(template(), spec=replace(inner, network_interfaces=both)))

    assert refused(existing, network="c") == (
        "--network: the workload is attached to the networks a, b; change them with --set or -f"
    )


def test_entries_of_cities_that_are_left_are_dropped():
    """A paused city that comes back later must not be paused."""
    existing = workload("web", placement("home", "DFW", "LHR"))
    existing = with_metadata(existing, annotations={annotations.PAUSED_CITIES: "DFW,LHR"})
    after = changed(existing, cities=("DFW",))

    assert after.metadata.annotations == {annotations.PAUSED_CITIES: "DFW"}
