"""Descriptions of the changes between two specs."""

import msgspec
import pytest

from compute.api import annotations
from compute.api.compute import Metric, MetricTarget, Placement, ResourceMetric, WorkloadSpec
from compute.api.instance_spec import (
    Container,
    DiskSpec,
    DiskTemplate,
    DiskVolume,
    InstanceTemplate,
    InterfaceNetworkPolicy,
    NamedPort,
    Volume,
    VolumeAttachment,
)
from compute.decide.workload import spec_diff
from kubekit.api.kinds.value_sources import ConfigMapVolumeSource, EnvVar, EnvVarSource, KeySelector
from tests.support.compute.builders import placement, template, workload

BASE = workload("web", placement("home", "DFW", "LHR")).spec


def spec(*placements: Placement, **template_changes: object) -> WorkloadSpec:
    """The base spec with other placements, or a container of the template changed."""
    changed = msgspec.structs.replace(BASE, placements=placements or BASE.placements)
    return msgspec.structs.replace(changed, template=containers(_container(**template_changes)))


def containers(*wanted: Container) -> InstanceTemplate:
    runtime = BASE.template.spec.runtime
    assert runtime.sandbox is not None
    sandbox = msgspec.structs.replace(runtime.sandbox, containers=wanted)
    inner = msgspec.structs.replace(
        BASE.template.spec, runtime=msgspec.structs.replace(runtime, sandbox=sandbox)
    )
    return msgspec.structs.replace(BASE.template, spec=inner)


def _container(**changes: object) -> Container:
    return msgspec.structs.replace(Container(name="app", image="registry.test/web:1"), **changes)


def _annotated(**pairs: str) -> WorkloadSpec:
    return msgspec.structs.replace(BASE, template=template(annotations=pairs))


SECRET = EnvVarSource(secret_key_ref=KeySelector(name="s", key="k"))


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (BASE, []),
        (spec(image="web:2"), ["image: registry.test/web:1 → web:2"]),
        (spec(placement("home", "DFW", "LHR", replicas=3)), ["min replicas: 1 → 3"]),
        (spec(placement("home", "DFW", "LHR", max_replicas=9)), ["max replicas: none → 9"]),
        (spec(placement("home", "DFW", "NRT")), ["cities: +NRT -LHR"]),
        (spec(placement("home", "LHR", "DFW")), ["cities: reordered"]),
        (
            spec(*BASE.placements, placement("far", "NRT", replicas=2)),
            ["+ placement far (NRT)"],
        ),
        (spec(placement("far", "NRT")), ["+ placement far (NRT)", "- placement home"]),
        (
            spec(placement("home", "DFW", "LHR", replicas=2), placement("far", "NRT")),
            ["+ placement far (NRT)", "min replicas in home: 1 → 2"],
        ),
        (spec(env=(EnvVar(name="TOKEN", value="hush"),)), ["env TOKEN added"]),
        (spec(env=(EnvVar(name="TOKEN", value_from=SECRET),)), ["env TOKEN added"]),
        (
            spec(command=("/srv/web", "x" * 80)),
            [
                "template.spec.runtime.sandbox.containers.app.command: none → /srv/web "
                + "x" * 50
                + "…"
            ],
        ),
        (
            _annotated(**{annotations.RESTARTED_AT: "2026-06-01T12:00:00Z"}),
            ["restarted at 2026-06-01T12:00:00Z"],
        ),
        (_annotated(**{annotations.SSH_KEYS: "ops:ssh-ed25519 AAAA"}), ["ssh keys added"]),
    ],
    ids=[
        "nothing", "image", "min", "max", "cities", "order", "new placement", "other placement",
        "two placements", "env", "env from", "any other field", "restart", "ssh keys",
    ],
)  # fmt: skip
def test_the_description_of_changes(new, words):
    """Each change is one phrase, and no value that may be a secret is shown."""
    assert list(spec_diff.describe(BASE, new)) == words


def test_changes_seen_from_the_other_side():
    """What was added in one direction was removed, or changed, in the other."""
    env = spec(env=(EnvVar(name="TOKEN", value="hush"),))
    keys = _annotated(**{annotations.SSH_KEYS: "ops:ssh-ed25519 AAAA"})
    stamp = _annotated(**{annotations.RESTARTED_AT: "2026-06-01T12:00:00Z"})

    assert spec_diff.describe(env, BASE) == ("env TOKEN removed",)
    assert spec_diff.describe(env, spec(env=(EnvVar(name="TOKEN", value="hush!"),))) == (
        "env TOKEN changed",
    )
    assert spec_diff.describe(keys, BASE) == ("ssh keys removed",)
    assert spec_diff.describe(stamp, BASE) == ("restart stamp removed",)


def test_containers_are_matched_by_name():
    """With several containers, the change says which one."""
    one, two = _container(name="one"), _container(name="two")
    before = msgspec.structs.replace(BASE, template=containers(one, two))
    newer = msgspec.structs.replace(
        BASE, template=containers(one, msgspec.structs.replace(two, image="web:2"))
    )

    assert spec_diff.describe(before, newer) == ("image of two: registry.test/web:1 → web:2",)
    assert spec_diff.image(newer) == "registry.test/web:1, web:2"


def test_a_new_size_is_named():
    """The instance type is what users call the size."""
    runtime = BASE.template.spec.runtime
    larger = msgspec.structs.replace(
        runtime, resources=msgspec.structs.replace(runtime.resources, instance_type="large")
    )
    inner = msgspec.structs.replace(BASE.template.spec, runtime=larger)
    new = msgspec.structs.replace(BASE, template=msgspec.structs.replace(BASE.template, spec=inner))

    assert spec_diff.describe(BASE, new) == ("instance type: datumcloud/d1-standard-2 → large",)


def test_lists_without_names_are_matched_by_position():
    """An interface has no name, so the change shows which one it was."""
    inner = BASE.template.spec
    (interface,) = inner.network_interfaces
    other = msgspec.structs.replace(
        interface, network=msgspec.structs.replace(interface.network, name="private")
    )
    new = msgspec.structs.replace(
        BASE,
        template=msgspec.structs.replace(
            BASE.template, spec=msgspec.structs.replace(inner, network_interfaces=(other,))
        ),
    )

    assert spec_diff.describe(BASE, new) == ("network: default → private",)


def test_a_default_is_no_change():
    """A field that was left out and one that spells out its default are the same."""
    left_out = Volume(name="d", disk=DiskVolume(template=DiskTemplate(spec=DiskSpec())))
    wire = b'{"name":"d","disk":{"template":{"spec":{"type":"pd-standard"}}}}'
    spelled = msgspec.json.decode(wire, type=Volume)
    old, new = (
        msgspec.structs.replace(
            BASE,
            template=msgspec.structs.replace(
                BASE.template, spec=msgspec.structs.replace(BASE.template.spec, volumes=(volume,))
            ),
        )
        for volume in (left_out, spelled)
    )

    assert spec_diff.describe(old, new) == ()


def test_a_machine_has_no_image_line():
    """A virtual machine's image is on its disk, not in the listing."""
    runtime = msgspec.structs.replace(BASE.template.spec.runtime, sandbox=None)
    inner = msgspec.structs.replace(BASE.template.spec, runtime=runtime)
    machine = msgspec.structs.replace(
        BASE, template=msgspec.structs.replace(BASE.template, spec=inner)
    )

    assert spec_diff.image(machine) == ""
    assert spec_diff.describe(BASE, machine) == (
        "image: registry.test/web:1 → none",
        "template.spec.runtime.sandbox.containers.app.name: app → none",
    )


def test_an_empty_object_is_not_the_same_as_none():
    """An interface policy without rules denies all traffic, so its addition is listed."""
    (interface,) = BASE.template.spec.network_interfaces
    closed = msgspec.structs.replace(interface, network_policy=InterfaceNetworkPolicy())
    inner = msgspec.structs.replace(BASE.template.spec, network_interfaces=(closed,))
    new = msgspec.structs.replace(BASE, template=InstanceTemplate(spec=inner))

    path = "template.spec.networkInterfaces.0.networkPolicy"
    assert spec_diff.describe(BASE, new) == (f"{path}: none → {{}}",)
    assert spec_diff.describe(new, BASE) == (f"{path}: {{}} → none",)


def test_a_mere_change_of_order_is_listed():
    """A container that moved is not taken for two changes, nor for none: it rolls instances."""
    one, other = _container(), _container(name="side")
    old = msgspec.structs.replace(BASE, template=containers(one, other))
    new = msgspec.structs.replace(BASE, template=containers(other, one))

    assert spec_diff.describe(old, new) == ("entries reordered",)


def test_leaf_changes_have_the_values_before_and_after():
    """They decide whether two changes are the same, so nothing is hidden or cut."""
    before, after = workload(), workload("web", placement("home", "DFW", "LHR", replicas=2))

    assert spec_diff.leaf_changes(before.spec, before.spec) == {}
    assert spec_diff.leaf_changes(before.spec, after.spec) == {
        ("placements", "home", "cityCodes"): (["DFW"], ["DFW", "LHR"]),
        ("placements", "home", "scaleSettings", "minReplicas"): (1, 2),
    }


def test_labels_of_instances_have_a_phrase():
    """They are not those of the Workload."""
    labelled = template(labels={"tier": "front"})
    before = workload().spec
    after = msgspec.structs.replace(before, template=labelled)

    assert spec_diff.describe(before, after) == ("label tier of instances: none → front",)


def test_scaling_by_load_has_phrases():
    """They name what `scale` and `deploy` call by flags."""
    target = MetricTarget(average_utilization=60)
    metrics = (Metric(resource=ResourceMetric(name="cpu", target=target)),)
    scaled = placement(
        "home", "DFW", max_replicas=5, metrics=metrics, instance_management_policy="Parallel"
    )

    assert spec_diff.describe(workload().spec, workload("web", scaled).spec) == (
        "strategy: OrderedReady → Parallel",
        "max replicas: none → 5",
        "scaled by: none → cpu",
        "load in percent: none → 60",
    )


def test_ports_have_a_phrase():
    """The number names the port; only another protocol than TCP is a phrase of its own."""
    web, dns = NamedPort(name="web", port=80, protocol="TCP"), NamedPort(name="dns", port=53)
    udp = msgspec.structs.replace(dns, protocol="UDP")
    protocol = "template.spec.runtime.sandbox.containers.app.ports.dns.protocol"

    assert spec_diff.describe(spec(), spec(ports=(web,))) == ("port web: none → 80",)
    assert spec_diff.describe(spec(ports=(web, dns)), spec(ports=(udp,))) == (
        "port web: 80 → none",
        f"{protocol}: none → UDP",
    )
    tcp = msgspec.structs.replace(dns, protocol="TCP")
    assert spec_diff.describe(spec(ports=(dns,)), spec(ports=(tcp,))) == (
        f"{protocol}: none → TCP",
    )


def test_volumes_have_phrases():
    """One for where it is from, and one for where a container has it."""
    files = VolumeAttachment(name="cm", mount_path="/etc/x")
    new = spec(volume_attachments=(files,))
    volume = Volume(name="cm", config_map=ConfigMapVolumeSource(name="settings"))
    inner = msgspec.structs.replace(new.template.spec, volumes=(volume,))
    template = msgspec.structs.replace(new.template, spec=inner)

    assert spec_diff.describe(spec(), msgspec.structs.replace(new, template=template)) == (
        "mount of cm: none → /etc/x",
        "volume cm from configMap: none → settings",
    )
