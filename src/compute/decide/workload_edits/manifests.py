"""Objects as a file asks for them, over those that exist.

The file decides on every field that it can hold: a field that it does not name has its default again.
What is not in files stays: labels and annotations of others, which controllers and the commands for
single cities write, the stamp of the last restart, finalizers, owners and the status.
"""

import base64
from collections.abc import Collection, Mapping
from typing import Final, cast

import msgspec
from msgspec.structs import replace

from compute.api import annotations
from compute.api.compute import Workload
from compute.decide.deployment.template import restamped, restart_stamp
from compute.decide.overrides import pruned
from compute.decide.validation import with_defaults
from kubekit.api import scheme
from kubekit.api.kinds.core import Secret
from kubekit.api.meta import K, ObjectMeta, with_spec

# Annotations of single changes: of cities and Instances, and the note on the last change.
TRANSIENT: Final = frozenset(
    {
        annotations.REVISION_NOTE,
        annotations.PAUSED,
        annotations.PAUSED_CITIES,
        annotations.RESTARTED_CITIES,
        annotations.CITY_TEMPLATES,
        annotations.REPLACED_INSTANCES,
    }
)
# Whatever others refer to comes before what refers to it; Workloads are last.
_ORDER: Final = ("Namespace", "ServiceAccount", "Secret", "ConfigMap", "Network", "NetworkPolicy")


def new(manifest: K, namespace: str) -> K:
    """The object to create: the manifest, which has no status, without what only a server writes."""
    meta = manifest.metadata
    bare = ObjectMeta(
        name=meta.name,
        namespace=(meta.namespace or namespace) if manifest.RESOURCE.namespaced else "",
        labels=meta.labels,
        annotations=meta.annotations,
        finalizers=meta.finalizers,
        owner_references=meta.owner_references,
    )
    return _normal(replace(manifest, metadata=bare))


def updated(existing: K, manifest: K, fields: Collection[str]) -> K:
    """The existing object as the manifest asks for it. ``fields`` are those at its top, less the status."""
    wanted = _normal(manifest)
    kept = {
        info.name: getattr(existing, info.name)
        for info in msgspec.structs.fields(type(existing))
        if info.encode_name not in fields
    }
    if isinstance(wanted, Secret):
        kept.pop("data", None)
    meta = existing.metadata
    meta = replace(
        meta,
        labels=meta.labels | wanted.metadata.labels,
        annotations=meta.annotations | wanted.metadata.annotations,
    )
    changed = replace(wanted, **(kept | {"metadata": meta}))
    if isinstance(changed, Workload) and isinstance(existing, Workload):
        changed = cast("K", _restarted(existing, changed))
    return existing if changed == existing else _pruned(changed)


def rank(kind: str) -> int:
    """The position of a kind in the order of writing."""
    if kind == Workload.RESOURCE.kind:
        return len(_ORDER) + 1
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)


def bare(workload: Workload) -> Mapping[str, object]:
    """The Workload as a file holds it: nothing that a server, a controller or a single change writes."""
    meta = ObjectMeta(
        name=workload.metadata.name,
        namespace=workload.metadata.namespace,
        labels=workload.metadata.labels,
        annotations={k: v for k, v in workload.metadata.annotations.items() if k not in TRANSIENT},
    )
    plain = replace(
        with_spec(workload, template=restamped(workload.spec.template, None)), metadata=meta
    )
    document: dict[str, object] = msgspec.json.decode(scheme.encode(plain))
    document.pop("status", None)
    return document


def _restarted(existing: Workload, wanted: Workload) -> Workload:
    """The wanted Workload with the restart stamp that exists: without it, all Instances would roll."""
    stamp, template = restart_stamp(existing.spec.template), wanted.spec.template
    if not stamp or restart_stamp(template):
        return wanted
    return with_spec(wanted, template=restamped(template, stamp))


def _pruned(obj: K) -> K:
    if isinstance(obj, Workload):
        return cast("K", pruned(obj))
    return obj


def _normal(obj: K) -> K:
    """The object as a server stores it, so that no difference is seen where there is none."""
    if isinstance(obj, Workload):
        return cast("K", with_defaults(obj))
    if isinstance(obj, Secret) and obj.string_data:
        plain = {k: base64.b64encode(v.encode()).decode() for k, v in obj.string_data.items()}
        return replace(obj, data=obj.data | plain, string_data={})
    return obj
