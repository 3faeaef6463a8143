"""The Workload that the flags of a deploy ask for."""

from collections.abc import Iterable

from msgspec.structs import replace

from compute.api import annotations, names
from compute.api.compute import Workload, WorkloadSpec
from compute.api.instance_spec import (
    Container,
    InstanceResources,
    InstanceSpec,
    InstanceTemplate,
    NetworkInterface,
    NetworkRef,
    Runtime,
    Sandbox,
)
from compute.decide.overrides import pruned
from compute.decide.validation.grammar import LABEL_RULE, is_label
from compute.decide.workload_edits.containers import APP, with_container, with_pull_secrets
from compute.decide.workload_edits.deploy_flags import (
    DEFAULT_INSTANCE_TYPE,
    Assignment,
    DeployFlags,
    FlagError,
)
from compute.decide.workload_edits.field_settings import with_setting
from compute.decide.workload_edits.placements import new_placement, with_placement
from kubekit.api.meta import ObjectMeta, with_metadata

NAME: str = "NAME"
DEFAULT_NETWORK: str = "default"


def desired(existing: Workload | None, flags: DeployFlags, meta: ObjectMeta) -> Workload:
    """The existing Workload with what the flags name, and nothing else; or a new one.

    ``meta`` has the name and the namespace of a new one. Entries of single cities that mean nothing
    after the change are dropped, as every client does that changes a template.
    """
    if existing is None:
        check_name(meta.name)
        existing = _new(flags, meta)
    edited = replace(existing, spec=_spec(existing.spec, flags))
    edited = _labelled(edited, flags.labels)
    if flags.max_unavailable is not None:
        edited = _annotated(edited, annotations.MAX_UNAVAILABLE, flags.max_unavailable)
    for setting in flags.settings:
        edited = replace(with_setting(edited, setting), status=existing.status)
    return existing if edited == existing else pruned(edited)


def check_name(name: str) -> None:
    """Refuse a name that a Workload cannot have. A long one would be cut or refused downstream."""
    if len(name) > names.LABEL_LIMIT:
        longest = name[: names.LABEL_LIMIT].rstrip("-")
        raise FlagError(
            NAME,
            f"the name has {len(name)} characters, and at most {names.LABEL_LIMIT} fit; "
            f"the longest that fits is {longest}",
        )
    if not is_label(name):
        raise FlagError(NAME, f'"{name}" {LABEL_RULE}')


def _new(flags: DeployFlags, meta: ObjectMeta) -> Workload:
    """A Workload with one placement and one container, before the flags are applied to it."""
    if not flags.image:
        problem = f"there is no workload {meta.name} yet; a new one needs an image, such as nginx:1"
        raise FlagError("--image", problem)
    container = Container(name=flags.container or APP, image=flags.image)
    interface = NetworkInterface(network=NetworkRef(name=DEFAULT_NETWORK))
    spec = InstanceSpec(
        runtime=Runtime(
            resources=InstanceResources(instance_type=DEFAULT_INSTANCE_TYPE),
            sandbox=Sandbox(containers=(container,)),
        ),
        network_interfaces=(interface,),
    )
    template = InstanceTemplate(spec=spec)
    return Workload(
        metadata=meta, spec=WorkloadSpec(placements=(new_placement(flags),), template=template)
    )


def _spec(spec: WorkloadSpec, flags: DeployFlags) -> WorkloadSpec:
    inner = spec.template.spec
    if flags.edits_container or flags.container:
        inner = with_container(inner, flags)
    if flags.image_pull_secrets:
        inner = with_pull_secrets(inner, flags.image_pull_secrets)
    if flags.instance_type is not None:
        resources = replace(inner.runtime.resources, instance_type=flags.instance_type)
        inner = replace(inner, runtime=replace(inner.runtime, resources=resources))
    if flags.network is not None:
        inner = _attached(inner, flags.network)
    return replace(
        spec,
        placements=with_placement(spec.placements, flags),
        template=replace(spec.template, spec=inner),
    )


def _attached(spec: InstanceSpec, network: str) -> InstanceSpec:
    """The spec attached to another network. What the interface lets in stays."""
    if len(spec.network_interfaces) != 1:
        known = ", ".join(interface.network.name for interface in spec.network_interfaces)
        problem = f"the workload is attached to the networks {known}; change them with --set or -f"
        raise FlagError("--network", problem)
    (interface,) = spec.network_interfaces
    if interface.network.name == network:
        return spec
    changed = replace(interface, network=NetworkRef(name=network))
    return replace(spec, network_interfaces=(changed,))


def _labelled(workload: Workload, edits: Iterable[Assignment]) -> Workload:
    """The Workload with labels on itself and on its Instances."""
    own, inner = dict(workload.metadata.labels), dict(workload.spec.template.metadata.labels)
    for edit in edits:
        for known in (own, inner):
            if edit.value is None:
                known.pop(edit.key, None)
            else:
                known[edit.key] = edit.value
    template = workload.spec.template
    template = replace(template, metadata=replace(template.metadata, labels=inner))
    spec = replace(workload.spec, template=template)
    return with_metadata(replace(workload, spec=spec), labels=own)


def _annotated(workload: Workload, key: str, value: str) -> Workload:
    others = {k: v for k, v in workload.metadata.annotations.items() if k != key}
    return with_metadata(workload, annotations=others | ({key: value} if value else {}))
