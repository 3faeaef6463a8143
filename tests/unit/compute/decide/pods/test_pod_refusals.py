"""What cannot be a Pod is refused, with the field and the fix."""

from typing import Any

import pytest

from compute.api.instance_spec import (
    DiskSpec,
    DiskTemplate,
    DiskVolume,
    InstanceResources,
    Runtime,
    VirtualMachine,
    Volume,
    VolumeAttachment,
)
from compute.decide.pods.pod_plan import plan
from compute.decide.pods.pod_refusals import PodRefusal
from compute.decide.pods.pod_settings import PodSettings
from kubekit.api.kinds.value_sources import (
    ConfigMapVolumeSource,
    EnvVar,
    EnvVarSource,
    FieldRef,
)
from kubekit.api.meta import with_spec
from tests.support.compute.builders import instance
from tests.support.compute.pod_builders import with_container

TYPE = InstanceResources(instance_type="datumcloud/d1-standard-2")
MACHINE = Runtime(
    resources=TYPE,
    virtual_machine=VirtualMachine(volume_attachments=(VolumeAttachment(name="root"),)),
)
DISK = Volume(name="data", disk=DiskVolume(template=DiskTemplate(spec=DiskSpec())))
CONF = Volume(name="conf", config_map=ConfigMapVolumeSource(name="web-conf"))
FIELD = EnvVar(name="X", value_from=EnvVarSource(field_ref=FieldRef(field_path="spec.hostname")))
INTERFACE = instance().spec.network_interfaces[0]
SIZELESS = Runtime(
    resources=InstanceResources(instance_type="huge"), sandbox=instance().spec.runtime.sandbox
)


def mounting(*volumes: Volume, **attachment: Any):
    mounts = (VolumeAttachment(**attachment),)
    return with_spec(with_container(instance(), volume_attachments=mounts), volumes=volumes)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (
            with_spec(instance(), runtime=MACHINE),
            "spec.runtime.virtualMachine: this cell runs containers only; use runtime.sandbox",
        ),
        (
            with_spec(instance(), network_interfaces=(INTERFACE, INTERFACE)),
            "spec.networkInterfaces: a Pod has one interface; keep one entry",
        ),
        (
            with_spec(instance(), volumes=(CONF, DISK)),
            "spec.volumes[data].disk: this cell has no disks; "
            "use a configMap or a secret, or another city",
        ),
        (
            with_spec(instance(), volumes=(Volume(name="none"),)),
            "spec.volumes[none]: it has no source; set configMap or secret",
        ),
        (
            mounting(CONF, name="other", mount_path="/etc"),
            "volumeAttachments[other] of container app: "
            "there is no volume of this name in spec.volumes",
        ),
        (
            mounting(CONF, name="conf"),
            "volumeAttachments[conf] of container app: a Pod has no devices; set mountPath",
        ),
        (
            with_container(instance(), env=(EnvVar(name="A", value="1"), FIELD)),
            "env[X] of container app: the field spec.hostname cannot be a variable; "
            "use another fieldPath",
        ),
        (
            with_spec(instance(), runtime=SIZELESS),
            "spec.runtime.resources.instanceType: huge is not known in this cell",
        ),
    ],
    ids=["machine", "interfaces", "disk", "nothing", "unknown", "device", "field", "size"],
)
def test_what_cannot_be_served_is_refused(made, why):
    assert plan(made, PodSettings()) == PodRefusal(why)
