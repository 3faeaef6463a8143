"""Creates the default roles and bindings when a plane starts.

Missing objects are created. Existing ones get their missing rules, subjects, labels and annotations;
additions by users stay. An object with the annotation autoupdate=false is not changed. If nothing is
missing, nothing is written.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kubekit.api import scheme
from kubekit.api.errors import AlreadyExists, ApiError, Conflict, NotFound
from kubekit.api.kinds.rbac import AggregationRule, ClusterRole, ClusterRoleBinding
from kubekit.api.meta import ObjectMeta
from kubekit.client.options import PLAIN_DELETE, PLAIN_WRITE, PatchType
from kubekit.client.transport import Document
from kubekit.plane.access import default_roles
from kubekit.plane.access.rules import TooManyPermissions, compile_rules, uncovered
from kubekit.plane.registry.encoding import decode, encode
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.records import Record

Wanted = ClusterRole | ClusterRoleBinding
_TRIES: Final = 5
_log: Final = logging.getLogger(__name__)


async def ensure_defaults(registry: Registry, more: Sequence[Wanted] = ()) -> None:
    """Ensure the defaults and ``more`` concurrently. A plane without the kinds of roles needs none."""
    if registry.kinds.by_kind(ClusterRole.RESOURCE.api_version, "ClusterRole") is None:
        return
    wanted: list[Wanted] = [*default_roles.ROLES, *default_roles.BINDINGS, *more]
    await asyncio.gather(*(_ensure(registry, one) for one in wanted))


async def _ensure(registry: Registry, wanted: Wanted) -> None:
    kind = registry.kinds.require(wanted.RESOURCE.api_version, wanted.RESOURCE.kind)
    for _ in range(_TRIES):
        try:
            await _compared(registry, kind, wanted)
        except (AlreadyExists, Conflict, NotFound):
            continue  # another writer was faster: compare with its version
        except (ApiError, TooManyPermissions) as refusal:
            # A full disk, a full plane or a huge role must not prevent the start: operators need access.
            name = wanted.metadata.name
            _log.warning("default object not created", extra={"object": name, "why": str(refusal)})
        return


async def _compared(registry: Registry, kind: Kind, wanted: Wanted) -> None:
    """Create it, or add what is missing."""
    record = registry.store.find(kind.storage, wanted.metadata.name)
    if record is None:
        await registry.create(kind, "", _document(wanted), PLAIN_WRITE)
    elif isinstance(wanted, ClusterRole):
        await _update(registry, kind, record, _role_changes(wanted, record))
    else:
        await _update_binding(registry, kind, record, wanted)


async def _update_binding(
    registry: Registry, kind: Kind, record: Record, wanted: ClusterRoleBinding
) -> None:
    found = scheme.decode_as(ClusterRoleBinding, record.data)
    if found.role_ref == wanted.role_ref:
        await _update(registry, kind, record, _binding_changes(wanted, found))
    elif not _is_unmanaged(found.metadata):
        await registry.delete(kind, "", record.key, PLAIN_DELETE)
        await registry.create(kind, "", _document(wanted), PLAIN_WRITE)


async def _update(registry: Registry, kind: Kind, record: Record, changes: Document) -> None:
    if changes:
        version = {"resourceVersion": str(record.revision)}
        patch = {**changes, "metadata": changes.get("metadata", {}) | version}
        await registry.patch(kind, "", record.key, PatchType.MERGE, patch, PLAIN_WRITE)


def _role_changes(wanted: ClusterRole, record: Record) -> Document:
    """The missing parts of a role as a patch; empty if nothing is missing."""
    found = scheme.decode_as(ClusterRole, record.data)
    if _is_unmanaged(found.metadata):
        return {}
    changes = _missing_metadata(wanted.metadata, found.metadata)
    if wanted.aggregation_rule is not None:
        return changes | _missing_selectors(wanted.aggregation_rule, found.aggregation_rule)
    held = compile_rules(found.rules)
    missing = [rule for rule in wanted.rules if uncovered(held, [rule])]
    if missing:
        changes["rules"] = (decode(record.data).get("rules") or []) + _built(missing)
    return changes


def _missing_selectors(wanted: AggregationRule, found: AggregationRule | None) -> Document:
    present = found.cluster_role_selectors if found else ()
    missing = [one for one in wanted.cluster_role_selectors if one not in present]
    if not missing:
        return {}
    return {"aggregationRule": {"clusterRoleSelectors": _built([*present, *missing])}}


def _binding_changes(wanted: ClusterRoleBinding, found: ClusterRoleBinding) -> Document:
    if _is_unmanaged(found.metadata):
        return {}
    changes = _missing_metadata(wanted.metadata, found.metadata)
    missing = [subject for subject in wanted.subjects if subject not in found.subjects]
    if missing:
        changes["subjects"] = _built([*found.subjects, *missing])
    return changes


def _missing_metadata(wanted: ObjectMeta, found: ObjectMeta) -> Document:
    """The labels and annotations to add. Existing ones keep their values."""
    missing = {
        "labels": _beyond(wanted.labels, found.labels),
        "annotations": _beyond(wanted.annotations, found.annotations),
    }
    changes = {name: values for name, values in missing.items() if values}
    return {"metadata": changes} if changes else {}


def _beyond(wanted: Mapping[str, str], found: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in wanted.items() if key not in found}


def _is_unmanaged(metadata: ObjectMeta) -> bool:
    return metadata.annotations.get(default_roles.AUTO_UPDATE) == "false"


def _document(wanted: Wanted) -> Document:
    document: Document = _built(wanted)
    return document


def _built(value: object) -> Any:  # noqa: ANN401 - what JSON makes of it
    return decode(encode(value))
