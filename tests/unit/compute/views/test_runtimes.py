"""What a template runs, with values that are masked."""

from msgspec.structs import replace

from compute.api.instance_spec import (
    Container,
    DiskPopulator,
    DiskResources,
    DiskSpec,
    DiskTemplate,
    DiskVolume,
    ImagePopulator,
    NamedPort,
    NetworkInterface,
    NetworkRef,
    Sandbox,
    VirtualMachine,
    Volume,
    VolumeAttachment,
)
from compute.views.details.runtimes import VariableView, image_changes, runtime_view
from kubekit.api.kinds.value_sources import (
    ConfigMapVolumeSource,
    EnvVar,
    EnvVarSource,
    FieldRef,
    KeySelector,
    ResourceFieldRef,
    SecretVolumeSource,
)
from kubekit.api.meta import LocalRef
from tests.support.compute.builders import instance_spec

PASSWORD = "hunter2"
VARIABLES = (
    EnvVar(name="PASSWORD", value=PASSWORD),
    EnvVar(name="EMPTY"),
    EnvVar(name="TOKEN", value_from=EnvVarSource(secret_key_ref=KeySelector(name="db", key="t"))),
    EnvVar(name="COLOUR", value_from=EnvVarSource(config_map_key_ref=KeySelector(name="c", key="k"))),
    EnvVar(name="CITY", value_from=EnvVarSource(field_ref=FieldRef(field_path="metadata.name"))),
    EnvVar(name="CPU", value_from=EnvVarSource(resource_field_ref=ResourceFieldRef(resource="limits.cpu"))),
    EnvVar(name="ODD", value_from=EnvVarSource()),
)  # fmt: skip


def spec_of(**container):
    spec = instance_spec()
    made = Container(name="app", image="web:1", **container)
    sandbox = Sandbox(containers=(made,), image_pull_secrets=(LocalRef(name="hub"),))
    return replace(spec, runtime=replace(spec.runtime, sandbox=sandbox))


def variables(*, show_values):
    (container,) = runtime_view(spec_of(env=VARIABLES), show_values=show_values).containers
    return {each.name: each for each in container.variables}


def test_values_are_masked():
    """An empty value hides nothing; one that comes from elsewhere is never read."""
    found = variables(show_values=False)

    assert found["PASSWORD"] == VariableView(name="PASSWORD", value=None, source="", masked=True)
    assert found["EMPTY"] == VariableView(name="EMPTY", value="", source="", masked=False)
    assert {name: each.source for name, each in found.items() if each.source} == {
        "TOKEN": "secret db, key t",
        "COLOUR": "configmap c, key k",
        "CITY": "field metadata.name",
        "CPU": "resource limits.cpu",
        "ODD": "a source that is not known here",
    }


def test_values_are_shown_where_they_are_asked_for():
    """Those of Secrets still are not."""
    found = variables(show_values=True)

    assert (found["PASSWORD"].value, found["PASSWORD"].masked) == (PASSWORD, False)
    assert found["TOKEN"].value is None


def test_a_container():
    """Ports have a protocol, also where the template has none."""
    spec = spec_of(
        command=("run",), args=("-v",),
        ports=(NamedPort(name="http", port=80),),
        volume_attachments=(VolumeAttachment(name="data", mount_path="/data"),),
    )  # fmt: skip

    view = runtime_view(spec)
    (container,) = view.containers

    assert (container.command, container.args) == (("run",), ("-v",))
    assert [(p.name, p.port, p.protocol) for p in container.ports] == [("http", 80, "TCP")]
    assert [(m.volume, m.path) for m in container.mounts] == [("data", "/data")]
    assert (view.type, view.networks, view.pull_secrets) == ("sandbox", ("default",), ("hub",))


def test_a_virtual_machine():
    """It has no containers, and ports and disks of its own."""
    spec = instance_spec()
    machine = VirtualMachine(
        ports=(NamedPort(name="ssh", port=22, protocol="TCP"),),
        volume_attachments=(VolumeAttachment(name="boot"),),
    )
    other = NetworkInterface(network=NetworkRef(name="lab", namespace="shared"))
    spec = replace(
        spec,
        runtime=replace(spec.runtime, sandbox=None, virtual_machine=machine),
        network_interfaces=(other,),
    )

    view = runtime_view(spec)

    assert (view.type, view.containers, view.pull_secrets) == ("virtual-machine", (), ())
    assert [port.name for port in view.ports] == ["ssh"]
    assert [mount.volume for mount in view.mounts] == ["boot"]
    assert view.networks == ("shared/lab",)


def test_where_volumes_come_from():
    """A disk has its size and its image, where they are known."""
    image = DiskPopulator(image=ImagePopulator(name="datumcloud/ubuntu-2204-lts"))
    sized = DiskSpec(populator=image, resources=DiskResources(requests={"storage": "10Gi"}))
    spec = replace(
        instance_spec(),
        volumes=(
            Volume(name="a", config_map=ConfigMapVolumeSource(name="settings")),
            Volume(name="b", secret=SecretVolumeSource(secret_name="tls")),
            Volume(name="c", disk=DiskVolume(template=DiskTemplate(spec=sized))),
            Volume(name="d", disk=DiskVolume(template=DiskTemplate(spec=DiskSpec()))),
            Volume(name="e"),
        ),
    )

    assert [volume.source for volume in runtime_view(spec).volumes] == [
        "configmap settings",
        "secret tls",
        "disk of 10Gi with datumcloud/ubuntu-2204-lts",
        "disk",
        "a source that is not known here",
    ]


def test_images_that_change():
    """Only the containers with another image."""
    (change,) = image_changes({"app": "a:1", "proxy": "p:1"}, {"app": "a:2", "proxy": "p:1"})

    assert (change.container, change.before, change.after) == ("app", "a:1", "a:2")
