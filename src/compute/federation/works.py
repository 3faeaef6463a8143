"""The Work that sends the manifest of an object to a cell.

Uid, version, owners, finalizers and status stay on the hub; labels, annotations and everything else
of the object are sent. Annotations on a manifest record its origin, and which labels and annotations
the hub manages. So a label that is removed on the hub is removed in the cell too.
"""

from typing import Any, Final

import msgspec

from compute.api import names
from compute.api.karmada_work import ResourceBinding, Work, WorkloadTemplate, WorkSpec
from compute.decide.federation.suspension import suspends_dispatching
from compute.federation import karmada_keys
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, ObjectMeta, with_metadata, with_spec

Manifest = dict[str, Any]

_ABORT: Final = "abort"
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"  # stays on the hub
_POLICY: Final = (karmada_keys.POLICY_NAME, karmada_keys.POLICY_NAMESPACE)


def of_binding(binding: ResourceBinding, template: Object, cluster: str, work_id: str) -> Work:
    """The Work that sends an object to one cluster."""
    meta, spec = binding.metadata, binding.spec
    bound = {karmada_keys.BINDING_NAME: meta.name, karmada_keys.BINDING_NAMESPACE: meta.namespace}
    policy = {key: meta.annotations[key] for key in _POLICY if key in meta.annotations}
    ids = (karmada_keys.BINDING_ID, karmada_keys.POLICY_ID)
    labels = {key: meta.labels[key] for key in ids if key in meta.labels}
    work = _work(template, cluster, work_id)
    resolution = {karmada_keys.CONFLICTS: spec.conflict_resolution.lower()}
    manifest = _manifest(template, work, labels, bound | policy | resolution)
    wanted = WorkSpec(
        workload=WorkloadTemplate(manifests=(manifest,)),
        suspend_dispatching=suspends_dispatching(spec.suspension, cluster) or None,
        preserve_resources_on_deletion=spec.preserve_resources_on_deletion,
    )
    return _complete(work, wanted, labels, bound)


def of_namespace(namespace: Namespace, cluster: str, work_id: str) -> Work:
    """The Work that sends a namespace to one cluster. It is deleted with the hub's namespace."""
    work = _work(namespace, cluster, work_id)
    manifest = _manifest(namespace, work, {}, {karmada_keys.CONFLICTS: _ABORT})
    del manifest["spec"]
    owned = with_metadata(work, owner_references=(namespace.reference(),))
    spec = WorkSpec(workload=WorkloadTemplate(manifests=(manifest,)))
    return _complete(owned, spec, {}, {})


def updated(present: Work, desired: Work) -> Work:
    """The Work with the desired labels, annotations and spec; its other fields stay."""
    relabelled = with_metadata(
        present,
        labels=present.metadata.labels | desired.metadata.labels,
        annotations=present.metadata.annotations | desired.metadata.annotations,
    )
    return with_spec(
        relabelled,
        workload=desired.spec.workload,
        suspend_dispatching=desired.spec.suspend_dispatching,
        preserve_resources_on_deletion=desired.spec.preserve_resources_on_deletion,
    )


def is_newer(present: ObjectMeta, desired: ObjectMeta) -> bool:
    """Whether the present copy was made from a later version of the same object.

    Then the desired one was made from a stale cache.
    """
    old, new = present.annotations, desired.annotations
    same = old.get(karmada_keys.TEMPLATE_UID) == new.get(karmada_keys.TEMPLATE_UID)
    return same and _generation(old) > _generation(new)


def heads(work: Work) -> tuple[Object, ...]:
    """Kind and metadata of the manifests of a Work."""
    return tuple(msgspec.convert(each, Object) for each in work.spec.workload.manifests)


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
    copied = {key: value for key, value in meta.annotations.items() if key != _LAST_APPLIED}
    labels = meta.labels | labels | work.metadata.labels | {karmada_keys.MANAGED: "true"}
    annotations = (
        copied
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
    # Through JSON, so that it is equal to what a server returns: lists, not tuples.
    encoded = msgspec.json.encode(msgspec.structs.replace(template, metadata=kept))
    manifest: Manifest = msgspec.json.decode(encoded)
    manifest.pop("status", None)
    return manifest


def _complete(
    work: Work, spec: WorkSpec, labels: dict[str, str], annotations: dict[str, str]
) -> Work:
    labelled = with_metadata(work, labels=work.metadata.labels | labels, annotations=annotations)
    return msgspec.structs.replace(labelled, spec=spec)


def _generation(annotations: dict[str, str]) -> int:
    written = annotations.get(karmada_keys.TEMPLATE_GENERATION, "")
    return int(written) if written.isdecimal() else 0
