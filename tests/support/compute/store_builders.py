"""Templates that use values of ConfigMaps and Secrets."""

from typing import Any

from msgspec.structs import replace

from compute.api.instance_spec import InstanceTemplate, Volume, VolumeAttachment
from kubekit.api.kinds.value_sources import (
    ConfigMapVolumeSource,
    EnvVar,
    EnvVarSource,
    KeySelector,
    KeyToPath,
    SecretVolumeSource,
)
from kubekit.api.meta import LocalRef
from tests.support.compute.builders import template


def variable(name: str, key: str, *, secret: bool = False) -> EnvVar:
    """A variable from one key of a ConfigMap, or of a Secret."""
    selector = KeySelector(name=name, key=key)
    source = (
        EnvVarSource(secret_key_ref=selector)
        if secret
        else EnvVarSource(config_map_key_ref=selector)
    )
    return EnvVar(name=key, value_from=source)


def files(name: str, *keys: str, secret: bool = False) -> Volume:
    """A volume with the values of a ConfigMap or Secret; with these keys only, if any is named."""
    items = tuple(KeyToPath(key=key, path=key) for key in keys)
    if secret:
        return Volume(name="files", secret=SecretVolumeSource(secret_name=name, items=items))
    return Volume(name="files", config_map=ConfigMapVolumeSource(name=name, items=items))


def using(*values: EnvVar | Volume, pull: str = "") -> InstanceTemplate:
    """A template whose container has these variables and files."""
    base = template()
    volumes = tuple(each for each in values if isinstance(each, Volume))
    attached = tuple(VolumeAttachment(name=v.name, mount_path="/files") for v in volumes)
    sandbox = base.spec.runtime.sandbox
    assert sandbox is not None
    container: Any = replace(
        sandbox.containers[0],
        env=tuple(each for each in values if isinstance(each, EnvVar)),
        volume_attachments=attached,
    )
    secrets = (LocalRef(name=pull),) if pull else ()
    sandbox = replace(sandbox, containers=(container,), image_pull_secrets=secrets)
    runtime = replace(base.spec.runtime, sandbox=sandbox)
    return replace(base, spec=replace(base.spec, runtime=runtime, volumes=volumes))
