"""The part of an object that each subresource may change. The rest stays unchanged."""

from kubekit.api import errors
from kubekit.client.transport import Document
from kubekit.plane.registry.encoding import Metadata
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.verbs.namespace_lifecycle import STORAGE as NAMESPACES


def check_subresource(kind: Kind, subresource: str) -> None:
    """Refuse a subresource that the kind does not have."""
    resource = kind.resource
    served = {
        "": True,
        "status": resource.status,
        "scale": resource.scale is not None,
        "finalize": kind.storage == NAMESPACES,
    }
    if not served.get(subresource, False):
        raise errors.NotFound("the server could not find the requested resource")


def with_part(part: str, old: Document, wanted: Document, metadata: Metadata) -> Document:
    """The object, changed in that part only."""
    if part == "finalize":
        return {**old, "metadata": metadata, "spec": _with_finalizers(old, wanted)}
    changed = {**old, "metadata": metadata}
    changed.pop("status", None)
    if "status" in wanted:
        changed["status"] = wanted["status"]
    return changed


def with_protected_fields(kind: Kind, wanted: Document, old: Document) -> Document:
    """The object, with the fields that only a subresource may change taken from the old one.

    The finalizers in a namespace's spec hold it until it is empty; only ``finalize`` removes them.
    """
    if kind.storage == NAMESPACES and _is_readable(wanted.get("spec")):
        return {**wanted, "spec": _with_finalizers(wanted, old)}
    return wanted


def _is_readable(spec: object) -> bool:
    """Whether a spec is of the right type; otherwise the schema refuses it."""
    if not isinstance(spec, dict):
        return spec is None
    return isinstance(spec.get("finalizers"), list | None)


def _with_finalizers(document: Document, source: Document) -> Document:
    spec = {k: v for k, v in _spec(document).items() if k != "finalizers"}
    if kept := _spec(source).get("finalizers"):
        spec["finalizers"] = kept
    return spec


def _spec(document: Document) -> Document:
    spec = document.get("spec")
    return spec if isinstance(spec, dict) else {}
