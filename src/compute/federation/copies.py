"""The copy of an object in a cell: which Work it belongs to, and how it is updated from it.

Labels, annotations and finalizers that the cell adds stay, and so does the status, which only the
cell writes.
"""

from typing import Any

import msgspec

from compute.api.karmada_work import Work
from compute.federation import karmada_keys
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, ObjectMeta, with_metadata
from kubekit.client.client import K

_KEYS = (
    karmada_keys.WORK_NAME,
    karmada_keys.WORK_NAMESPACE,
    karmada_keys.WORK_ID,
    karmada_keys.BINDING_NAME,
    karmada_keys.BINDING_NAMESPACE,
    karmada_keys.BINDING_ID,
    karmada_keys.POLICY_NAME,
    karmada_keys.POLICY_NAMESPACE,
    karmada_keys.POLICY_ID,
    karmada_keys.CONFLICTS,
    karmada_keys.TEMPLATE_UID,
    karmada_keys.TEMPLATE_GENERATION,
    karmada_keys.MANAGED,
    karmada_keys.MANAGED_LABELS,
    karmada_keys.MANAGED_ANNOTATIONS,
)


def is_of(copy: Object, work: Work) -> bool:
    """Whether a cell's object was made from this Work.

    The name identifies it, since a restored hub creates its Works again with new ids. So does the
    id, since the annotations may have been removed in the cell. A copy that is not recognised is
    neither updated nor deleted, and would run indefinitely.
    """
    annotations, meta = copy.metadata.annotations, work.metadata
    named = (annotations.get(karmada_keys.WORK_NAMESPACE), annotations.get(karmada_keys.WORK_NAME))
    work_id = copy.metadata.labels.get(karmada_keys.WORK_ID, "")
    return named == (meta.namespace, meta.name) or (
        bool(work_id) and work_id == meta.labels.get(karmada_keys.WORK_ID)
    )


def may_overwrite(wanted: Object) -> bool:
    """Whether the copy may overwrite an object that the engine did not make."""
    return wanted.metadata.annotations.get(karmada_keys.CONFLICTS) == "overwrite"


def updated(copy: K, wanted: K) -> K:
    """The copy with the spec of the Work, and with the status that the cell wrote.

    Nothing of the cell's spec is retained, not even the number of replicas: scaling on the hub must
    scale the cell.
    """
    kept: dict[str, Any] = {"metadata": _merged(copy.metadata, wanted.metadata)}
    if isinstance(copy, Namespace):
        kept["spec"] = copy.spec  # its finalizers in this plane
    status = getattr(copy, "status", None)
    if status is not None:
        kept["status"] = status
    return msgspec.structs.replace(wanted, **kept)


def released(copy: K) -> K:
    """The copy as an object of the cell alone, without the engine's labels and annotations."""
    meta = copy.metadata
    return with_metadata(
        copy, labels=_without(meta.labels, _KEYS), annotations=_without(meta.annotations, _KEYS)
    )


def _merged(present: ObjectMeta, wanted: ObjectMeta) -> ObjectMeta:
    labels = _without(present.labels, _listed(present, karmada_keys.MANAGED_LABELS))
    annotations = _without(present.annotations, _listed(present, karmada_keys.MANAGED_ANNOTATIONS))
    return msgspec.structs.replace(
        present, labels=labels | wanted.labels, annotations=annotations | wanted.annotations
    )


def _listed(present: ObjectMeta, key: str) -> tuple[str, ...]:
    return tuple(present.annotations.get(key, "").split(","))


def _without(values: dict[str, str], keys: tuple[str, ...]) -> dict[str, str]:
    return {key: value for key, value in values.items() if key not in keys}
