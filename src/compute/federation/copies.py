"""The copy of an object in a cell: whose it is, and what it should be.

What the cell adds by itself stays: labels, annotations, finalizers, and above all the status, which
is the cell's alone.
"""

from typing import Any

import msgspec

from compute.api.karmada_work import Work
from compute.federation import karmada_keys
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import K

_MARKS = (
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

    By name, so that a hub which was restored, and has made its Works anew, finds what it had made
    before; or by the id, since somebody in the cell may have taken the names off. What is not known
    again is neither mended nor removed: it would run for ever.
    """
    told, meta = copy.metadata.annotations, work.metadata
    named = (told.get(karmada_keys.WORK_NAMESPACE), told.get(karmada_keys.WORK_NAME))
    known = copy.metadata.labels.get(karmada_keys.WORK_ID, "")
    return named == (meta.namespace, meta.name) or (
        bool(known) and known == meta.labels.get(karmada_keys.WORK_ID)
    )


def may_take(wanted: Object) -> bool:
    """Whether an object that somebody else made may become the copy."""
    return wanted.metadata.annotations.get(karmada_keys.CONFLICTS) == "overwrite"


def renewed(copy: K, wanted: K) -> K:
    """The copy as it should be. Nothing of the spec is the cell's to keep, no number of replicas
    either: what is scaled on the hub must be scaled in the cell.
    """
    kept: dict[str, Any] = {"metadata": _merged(copy.metadata, wanted.metadata)}
    if isinstance(copy, Namespace):
        kept["spec"] = copy.spec  # who holds it in this plane
    status = getattr(copy, "status", None)
    if status is not None:
        kept["status"] = status
    return msgspec.structs.replace(wanted, **kept)


def let_go(copy: K) -> K:
    """The copy as an object of the cell's own, without any mark."""
    meta = copy.metadata
    metadata = msgspec.structs.replace(
        meta, labels=_without(meta.labels, _MARKS), annotations=_without(meta.annotations, _MARKS)
    )
    return msgspec.structs.replace(copy, metadata=metadata)


def _merged(present: ObjectMeta, wanted: ObjectMeta) -> ObjectMeta:
    labels = _without(present.labels, _listed(present, karmada_keys.MANAGED_LABELS))
    annotations = _without(present.annotations, _listed(present, karmada_keys.MANAGED_ANNOTATIONS))
    return msgspec.structs.replace(
        present, labels=labels | wanted.labels, annotations=annotations | wanted.annotations
    )


def _listed(present: ObjectMeta, key: str) -> tuple[str, ...]:
    return tuple(present.annotations.get(key, "").split(","))


def _without(told: dict[str, str], keys: tuple[str, ...]) -> dict[str, str]:
    return {key: value for key, value in told.items() if key not in keys}
