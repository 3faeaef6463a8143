"""The changes that files ask for.

They are created or merged here and written as a difference that is bound to the version which was
read, and not by server-side apply. With apply, a field that a file does not name any more stays if
another client owns it, such as `compute scale` or an earlier deploy by flags: what a file does would
depend on who wrote before. Here the file decides on every field of the spec, the plan is exactly what
is written, and a change that another client makes meanwhile is noticed.
"""

from collections.abc import Sequence
from functools import partial

import msgspec

from compute.api.compute import Workload
from compute.cli.change.planned_changes import PlannedChange, existing_object
from compute.cli.deploy.manifest_errors import ManifestError, failure_of_manifests
from compute.cli.deploy.manifests import Manifest
from compute.cli.deploy.references import Surroundings
from compute.cli.exits import Failure
from compute.cli.shell.session import Session
from compute.decide.workload.preview import cities_named
from compute.decide.workload.revision_note import noted
from compute.decide.workload_edits.document_errors import document_errors
from compute.decide.workload_edits.manifests import new, rank, updated
from kubekit.api import scheme
from kubekit.api.fields import FieldError
from kubekit.api.meta import Object


async def changes_of_manifests(
    session: Session, read: Sequence[Manifest], around: Surroundings, note: str
) -> tuple[PlannedChange, ...]:
    """The changes of every document, in the order of writing. One error refuses them all."""
    kinds = [_kind(manifest) for manifest in read]
    _refuse_twice(session, read, kinds)
    pairs = sorted(zip(kinds, read, strict=True), key=lambda pair: rank(pair[0].RESOURCE.kind))
    found = [(await _existing(session, kind, m), kind, m) for kind, m in pairs]
    errors = [
        ManifestError(manifest, kind, error)
        for existing, kind, manifest in found
        for error in _errors(existing, kind, manifest, around)
    ]
    if errors:
        raise failure_of_manifests(errors)
    return tuple([_change(session, *each, note) for each in found])


def _kind(manifest: Manifest) -> type[Object]:
    document = manifest.document
    version, kind = document.get("apiVersion"), document.get("kind")
    missing = next((key for key in ("apiVersion", "kind") if not document.get(key)), "")
    if missing:
        raise Failure(
            f"{_titled(manifest)}: {missing} is missing; nothing was changed",
            next_step=f"compute explain workload.{missing}",
        )
    known = scheme.lookup(str(version), str(kind))
    if known is None:
        error = scheme.UnknownKind(str(version), str(kind))
        raise Failure(
            f"{_titled(manifest, 'kind')}: {error}; nothing was changed",
            next_step="compute explain",
        )
    return known


def _titled(manifest: Manifest, path: str = "") -> str:
    return f"{manifest.location(path)} (document {manifest.position})"


def _refuse_twice(
    session: Session, read: Sequence[Manifest], kinds: Sequence[type[Object]]
) -> None:
    seen: dict[tuple[str, str, str], Manifest] = {}
    for manifest, kind in zip(read, kinds, strict=True):
        key = (kind.__name__, *_identity(session, manifest))
        first = seen.setdefault(key, manifest)
        if first is not manifest and key[2]:
            where = f"{manifest.location()} and {first.location()}"
            title = f"{kind.RESOURCE.kind} {key[2]}"
            raise Failure(f"{where} both have {title}; nothing was changed")


def _identity(session: Session, manifest: Manifest) -> tuple[str, str]:
    metadata = manifest.document.get("metadata")
    known = metadata if isinstance(metadata, dict) else {}
    return str(known.get("namespace") or session.namespace), str(known.get("name") or "")


async def _existing(session: Session, kind: type[Object], manifest: Manifest) -> Object | None:
    namespace, name = _identity(session, manifest)
    if not name:
        return None  # the document is refused for it
    return await existing_object(session, kind, name, namespace if kind.RESOURCE.namespaced else "")


def _errors(
    existing: Object | None, kind: type[Object], manifest: Manifest, around: Surroundings
) -> tuple[FieldError, ...]:
    document = _without_status(manifest)
    old = existing if isinstance(existing, Workload) else None
    cities = around.cities
    if cities is None:
        cities = frozenset(cities_named(document)) if kind is Workload else frozenset()
    return document_errors(kind, document, cities=cities, old=old)


def _without_status(manifest: Manifest) -> dict[str, object]:
    return {key: value for key, value in manifest.document.items() if key != "status"}


def _change(
    session: Session,
    existing: Object | None,
    kind: type[Object],
    manifest: Manifest,
    note: str,
) -> PlannedChange:
    document = _without_status(manifest)
    try:
        given = scheme.decode_as(kind, document)
    except (scheme.DecodeError, msgspec.MsgspecError) as error:
        raise Failure(f"{manifest.location()}: {error}; nothing was changed") from error
    make = partial(_make_of_manifest, given, frozenset(document), (session.namespace, note))
    return PlannedChange(existing, make(existing), make)


def _make_of_manifest(
    given: Object, fields: frozenset[str], settings: tuple[str, str], existing: Object | None
) -> Object:
    namespace, note = settings
    wanted = new(given, namespace) if existing is None else updated(existing, given, fields)
    if note and isinstance(wanted, Workload):
        return noted(existing if isinstance(existing, Workload) else None, wanted, note)
    return wanted
