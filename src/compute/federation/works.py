"""What a cell is told to have: the manifest of an object, in a Work.

Uid, version, owners, finalizers and status stay on the hub; labels, annotations and everything else
of the object travel. The marks on a manifest say where it came from, and which labels and
annotations are the hub's, so that one which is taken off there goes away in the cell too.
"""

from typing import Any, Final

import msgspec

from compute.api import names
from compute.api.karmada_work import ResourceBinding, Work, WorkloadTemplate, WorkSpec
from compute.decide.federation.suspension import holds_dispatching
from compute.federation import karmada_keys
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, ObjectMeta

Manifest = dict[str, Any]

_ABORT: Final = "abort"
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"  # is of the hub's object
_POLICY: Final = (karmada_keys.POLICY_NAME, karmada_keys.POLICY_NAMESPACE)


def of_binding(binding: ResourceBinding, template: Object, cluster: str, work_id: str) -> Work:
    """The Work that gives one cluster its copy of an object."""
    meta, spec = binding.metadata, binding.spec
    bound = {karmada_keys.BINDING_NAME: meta.name, karmada_keys.BINDING_NAMESPACE: meta.namespace}
    told = bound | {key: meta.annotations[key] for key in _POLICY if key in meta.annotations}
    ids = (karmada_keys.BINDING_ID, karmada_keys.POLICY_ID)
    labels = {key: meta.labels[key] for key in ids if key in meta.labels}
    work = _work(template, cluster, work_id)
    resolution = {karmada_keys.CONFLICTS: spec.conflict_resolution.lower()}
    manifest = _manifest(template, work, labels, told | resolution)
    wanted = WorkSpec(
        workload=WorkloadTemplate(manifests=(manifest,)),
        suspend_dispatching=holds_dispatching(spec.suspension, cluster) or None,
        preserve_resources_on_deletion=spec.preserve_resources_on_deletion,
    )
    return _told(work, wanted, labels, bound)


def of_namespace(namespace: Namespace, cluster: str, work_id: str) -> Work:
    """The Work that gives one cluster a namespace. It goes when the hub's namespace has gone."""
    work = _work(namespace, cluster, work_id)
    manifest = _manifest(namespace, work, {}, {karmada_keys.CONFLICTS: _ABORT})
    del manifest["spec"]
    owned = msgspec.structs.replace(work.metadata, owner_references=(namespace.reference(),))
    spec = WorkSpec(workload=WorkloadTemplate(manifests=(manifest,)))
    return _told(msgspec.structs.replace(work, metadata=owned), spec, {}, {})


def renewed(present: Work, desired: Work) -> Work:
    """The Work as it should be, with everything of its own."""
    metadata = msgspec.structs.replace(
        present.metadata,
        labels=present.metadata.labels | desired.metadata.labels,
        annotations=present.metadata.annotations | desired.metadata.annotations,
    )
    spec = msgspec.structs.replace(
        present.spec,
        workload=desired.spec.workload,
        suspend_dispatching=desired.spec.suspend_dispatching,
        preserve_resources_on_deletion=desired.spec.preserve_resources_on_deletion,
    )
    return msgspec.structs.replace(present, metadata=metadata, spec=spec)


def is_newer(present: ObjectMeta, desired: ObjectMeta) -> bool:
    """Whether what is there was made from a later version of the same object.

    Whoever would replace it has read the object from a cache that is behind.
    """
    there, wanted = present.annotations, desired.annotations
    same = there.get(karmada_keys.TEMPLATE_UID) == wanted.get(karmada_keys.TEMPLATE_UID)
    return same and _generation(there) > _generation(wanted)


def heads(work: Work) -> tuple[Object, ...]:
    """What the manifests of a Work say of themselves, whatever else they may be."""
    return tuple(msgspec.convert(one, Object) for one in work.spec.workload.manifests)


def _work(template: Object, cluster: str, work_id: str) -> Work:
    meta = template.metadata
    return Work(
        metadata=ObjectMeta(
            name=names.work(meta.namespace, meta.name, template.kind),
            namespace=names.execution_namespace(cluster),
            labels={karmada_keys.WORK_ID: work_id},
            finalizers=(karmada_keys.EXECUTION,),
        ),
        spec=WorkSpec(),
    )


def _manifest(
    template: Object, work: Work, labels: dict[str, str], annotations: dict[str, str]
) -> Manifest:
    meta = template.metadata
    told = {key: value for key, value in meta.annotations.items() if key != _LAST_APPLIED}
    labels = meta.labels | labels | work.metadata.labels | {karmada_keys.MANAGED: "true"}
    annotations = (
        told
        | annotations
        | {
            karmada_keys.WORK_NAME: work.metadata.name,
            karmada_keys.WORK_NAMESPACE: work.metadata.namespace,
            karmada_keys.TEMPLATE_UID: meta.uid,
            karmada_keys.TEMPLATE_GENERATION: str(meta.generation),
            karmada_keys.MANAGED_LABELS: ",".join(sorted(labels)),
        }
    )
    keys = sorted((*annotations, karmada_keys.MANAGED_ANNOTATIONS))
    kept = ObjectMeta(
        name=meta.name,
        namespace=meta.namespace,
        labels=labels,
        annotations=annotations | {karmada_keys.MANAGED_ANNOTATIONS: ",".join(keys)},
    )
    # As JSON and back, so that it is equal to what a server shows of it: lists, not tuples.
    encoded = msgspec.json.encode(msgspec.structs.replace(template, metadata=kept))
    manifest: Manifest = msgspec.json.decode(encoded)
    manifest.pop("status", None)
    return manifest


def _told(work: Work, spec: WorkSpec, labels: dict[str, str], annotations: dict[str, str]) -> Work:
    metadata = msgspec.structs.replace(
        work.metadata, labels=work.metadata.labels | labels, annotations=annotations
    )
    return msgspec.structs.replace(work, metadata=metadata, spec=spec)


def _generation(annotations: dict[str, str]) -> int:
    written = annotations.get(karmada_keys.TEMPLATE_GENERATION, "")
    return int(written) if written.isdecimal() else 0
