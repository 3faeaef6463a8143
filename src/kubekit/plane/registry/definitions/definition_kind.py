"""The kind CustomResourceDefinition: completes and validates a definition before it is stored."""

import dataclasses
from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec

from kubekit.api.fields import FieldError, Path, Problem, too_long
from kubekit.api.finalizers import CLEANUP
from kubekit.api.kinds.apiextensions import CustomResourceDefinitionSpec
from kubekit.api.structural.nodes import Document
from kubekit.plane.registry.definitions import approval, schema_keywords, spec_rules, statuses
from kubekit.plane.registry.encoding import encode, same
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.schema.conformance import MOST_ERRORS, Conformed

STORAGE: Final = "apiextensions.k8s.io/customresourcedefinitions"
LARGEST: Final = 3 * 512 * 1024  # bytes of a spec; etcd accepts no larger ones


class DefinitionKind(Kind):
    """The kind of definitions. Their schemas have rules that a schema cannot express."""

    def conform(self, document: Document, old: Document | None = None) -> Conformed:
        conformed = super().conform(document, old)
        if conformed.errors:
            return conformed
        unknown: list[str] = []
        cleaned = _cleaned(conformed.document, old, unknown)
        dropped = [FieldError(path, Problem.FORBIDDEN) for path in islice(unknown, MOST_ERRORS)]
        return dataclasses.replace(
            conformed, document=cleaned, unknown=[*conformed.unknown, *dropped]
        )


def prepare(document: Document, old: Document | None) -> list[FieldError]:
    """Complete the definition in place; returns its errors.

    An unchanged spec is not validated again, so that its status stays writable if later versions of
    this program have more rules.
    """
    metadata, before = document["metadata"], old or {}
    spec = document["spec"] = _completed(document.get("spec"), before.get("spec"))
    changed = not same(spec, before.get("spec"))
    if old is None:
        metadata["generation"] = 1
    elif changed:
        metadata["generation"] = metadata.get("generation", 0) + 1
    _add_finalizer(metadata)
    read = read_spec(spec)
    storage = storage_version(read)
    status = document.get("status") or {}
    document["status"] = {**status, "storedVersions": statuses.stored_versions(status, storage)}
    annotations = metadata.get("annotations", {})
    reannotated = annotations != before.get("metadata", {}).get("annotations", {})
    problems: list[FieldError] = []
    if changed or reannotated:
        problems += approval.errors(read.group, annotations)
    if changed:
        problems += islice(_spec_errors(document, read, old), MOST_ERRORS)
    return problems


def read_spec(spec: object) -> CustomResourceDefinitionSpec:
    """The spec of a definition that fits its schema."""
    return msgspec.convert(spec, CustomResourceDefinitionSpec)


def storage_version(spec: CustomResourceDefinitionSpec) -> str:
    """The version that objects are stored in; empty if the spec has none yet."""
    return next((version.name for version in spec.versions if version.storage), "")


def _spec_errors(
    document: Document, spec: CustomResourceDefinitionSpec, old: Document | None
) -> Iterator[FieldError]:
    if len(encode(document["spec"])) > LARGEST:
        yield too_long("spec", "", LARGEST)
        return
    if old is not None:
        established = statuses.is_established(old.get("status") or {})
        fixed = [*spec_rules.change_errors(spec, read_spec(old["spec"]), established=established)]
        yield from fixed
        if fixed:
            return
        yield from spec_rules.stored_errors(
            (old.get("status") or {}).get("storedVersions", []), spec
        )
    yield from spec_rules.spec_errors(document["metadata"]["name"], spec)


def _completed(new: Document | None, old: Document | None) -> Document:
    """The spec with its defaults. A stored spec is already complete."""
    if new is not None and new is old:
        return new
    spec: Document = {**(new or {})}
    names = {**spec.get("names", {})}
    if kind := names.get("kind"):
        names["singular"] = names.get("singular") or kind.lower()
        names["listKind"] = names.get("listKind") or f"{kind}List"
    spec["names"] = names
    spec["versions"] = [
        {
            **version,
            "served": version.get("served", False),
            "storage": version.get("storage", False),
        }
        for version in spec.get("versions", ())
    ]
    spec.setdefault("conversion", {"strategy": "None"})
    if not spec.get("preserveUnknownFields"):
        spec.pop("preserveUnknownFields", None)
    return spec


def _add_finalizer(metadata: Document) -> None:
    """Add the finalizer that holds the definition until its objects are deleted."""
    present = metadata.get("finalizers", [])
    if "deletionTimestamp" not in metadata and CLEANUP not in present:
        metadata["finalizers"] = [*present, CLEANUP]


def _cleaned(document: Document, old: Document | None, unknown: list[str]) -> Document:
    spec = document.get("spec")
    if spec is None or (old is not None and spec is old.get("spec")):
        return document
    versions = [
        _with_clean_schema(version, Path("spec.versions").at(position), unknown)
        for position, version in enumerate(spec.get("versions", ()))
    ]
    return {**document, "spec": {**spec, "versions": versions}}


def _with_clean_schema(version: Document, path: Path, unknown: list[str]) -> Document:
    schema = version.get("schema")
    if not schema or "openAPIV3Schema" not in schema:
        return version
    schema_path = path.child("schema", "openAPIV3Schema")
    clean = schema_keywords.cleaned(schema["openAPIV3Schema"], schema_path, unknown)
    return {**version, "schema": {**schema, "openAPIV3Schema": clean}}
