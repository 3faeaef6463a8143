"""Kinds out of CustomResourceDefinitions.

Versions of a kind are converted as the strategy ``None`` says: only the apiVersion changes. A
definition is refused for what would make its kind unservable; of the schema `schemarules` judges,
of its paths `pathrules`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from compute.api import scheme
from compute.api.apiextensions import (
    CrdVersion,
    CustomResourceDefinition,
    CustomResourceDefinitionSpec,
)
from compute.api.fields import FieldError, Path, duplicate, invalid, not_supported, required
from compute.api.resource import AGE, Column, Resource, Scale
from compute.api.structural_nodes import Document
from compute.plane.registry.kinds import Conversion, Kind, head_of, rank_of_version
from compute.plane.registry.pathrules import path_errors
from compute.plane.registry.schemarules import schema_errors

_SPEC: Final = Path("spec")
_NAMES: Final = _SPEC.child("names")
_LABEL: Final = re.compile(r"(?=.{1,63}\Z)[a-z]([-a-z0-9]*[a-z0-9])?")
_GROUP: Final = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+"
)
_IN_WORDS: Final = {
    _LABEL: "must be a lower case DNS label, such as widgets",
    _GROUP: "must be a DNS name with a dot, such as example.com",
}


class BadDefinition(ValueError):
    """A CustomResourceDefinition that cannot be served. Each error names its field."""

    def __init__(self, name: str, errors: Iterable[FieldError]) -> None:
        self.errors = tuple(errors)
        told = "; ".join(map(str, self.errors))
        super().__init__(f"CustomResourceDefinition {name or 'without a name'}: {told}")


def kinds_of(document: Document) -> list[Kind]:
    """The kind, in every version that the definition serves."""
    definition = _read(document)
    served = [version for version in definition.spec.versions if version.served]
    if not served:
        return []
    stored = next(
        (version for version in served if version.storage),
        max(served, key=lambda version: rank_of_version(version.name)),
    )
    form = _resource(definition, stored)
    return [_kind(definition, version, form) for version in served]


def _read(document: Document) -> CustomResourceDefinition:
    metadata = document.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    try:
        definition = scheme.decode_as(CustomResourceDefinition, document)
    except scheme.DecodeError as error:
        raise BadDefinition(str(name), [invalid(error.path, None, error.why)]) from error
    errors = [*_errors(definition)]
    if errors:
        raise BadDefinition(definition.metadata.name, errors)
    return definition


def _kind(definition: CustomResourceDefinition, version: CrdVersion, form: Resource) -> Kind:
    resource, names = _resource(definition, version), definition.spec.names
    schema = version.schema.open_api_v3_schema if version.schema else None
    deprecation = f"{resource.api_version} {resource.kind} is deprecated"
    return Kind(
        resource=resource,
        schema=schema or {},
        storage=f"{resource.group}/{resource.plural}",
        head=head_of(resource),
        conversion=None if resource.version == form.version else _relabelling(resource, form),
        singular=names.singular,
        list_kind=names.list_kind,
        warning=(version.deprecation_warning or deprecation) if version.deprecated else "",
    )


def _relabelling(view: Resource, form: Resource) -> Conversion:
    return Conversion(
        to_storage=lambda document: {**document, "apiVersion": form.api_version},
        from_storage=lambda document: {**document, "apiVersion": view.api_version},
    )


def _resource(definition: CustomResourceDefinition, version: CrdVersion) -> Resource:
    spec, parts = definition.spec, version.subresources
    columns = tuple(
        Column(column.name, column.json_path, column.type, wide=column.priority > 0)
        for column in version.additional_printer_columns
    )
    return Resource(
        group=spec.group,
        version=version.name,
        kind=spec.names.kind,
        plural=spec.names.plural,
        namespaced=spec.scope == "Namespaced",
        short_names=spec.names.short_names,
        categories=spec.names.categories,
        columns=columns or (AGE,),
        status=parts is not None and parts.status is not None,
        scale=_scale(version),
        selectable_fields=tuple(field.json_path for field in version.selectable_fields),
        annotations=definition.metadata.annotations,
    )


def _scale(version: CrdVersion) -> Scale | None:
    scale = version.subresources.scale if version.subresources else None
    if scale is None:
        return None
    return Scale(
        scale.spec_replicas_path, scale.status_replicas_path, scale.label_selector_path or ""
    )


def _errors(definition: CustomResourceDefinition) -> Iterator[FieldError]:
    spec, name = definition.spec, definition.metadata.name
    yield from _name_errors(spec)
    wanted = f"{spec.names.plural}.{spec.group}"
    if name != wanted:
        yield invalid("metadata.name", name, f'must be spec.names.plural+"."+spec.group: {wanted}')
    if spec.scope not in ("Namespaced", "Cluster"):
        yield not_supported(_SPEC.child("scope"), spec.scope, ("Cluster", "Namespaced"))
    if spec.conversion is not None and spec.conversion.strategy != "None":
        path = _SPEC.child("conversion", "strategy")
        yield not_supported(path, spec.conversion.strategy, ("None",))
    yield from _versions_errors(spec.versions, _SPEC.child("versions"))


def _name_errors(spec: CustomResourceDefinitionSpec) -> Iterator[FieldError]:
    names = spec.names
    yield from _misspelled(_SPEC.child("group"), spec.group, _GROUP)
    yield from _misspelled(_NAMES.child("plural"), names.plural, _LABEL)
    for name, given in (("kind", names.kind), ("listKind", names.list_kind)):
        if given or name == "kind":
            yield from _misspelled(_NAMES.child(name), given.lower(), _LABEL)
    if names.singular:
        yield from _misspelled(_NAMES.child("singular"), names.singular, _LABEL)
    for position, name in enumerate(names.short_names):
        yield from _misspelled(_NAMES.child("shortNames").at(position), name, _LABEL)


def _misspelled(path: Path, given: str, form: re.Pattern[str]) -> Iterator[FieldError]:
    if form.fullmatch(given) is None:
        yield invalid(path, given, _IN_WORDS[form])


def _versions_errors(versions: tuple[CrdVersion, ...], path: Path) -> Iterator[FieldError]:
    if sum(version.storage for version in versions) != 1:
        yield invalid(path, [v.name for v in versions], "must have exactly one with storage: true")
    seen = set()
    for position, version in enumerate(versions):
        here = path.at(position)
        if version.name in seen:
            yield duplicate(here.child("name"), version.name)
        seen.add(version.name)
        yield from _misspelled(here.child("name"), version.name, _LABEL)
        schema = version.schema.open_api_v3_schema if version.schema else None
        place = here.child("schema", "openAPIV3Schema")
        if schema is None:
            yield required(place, "schemas are required")
            continue
        wrong = [*schema_errors(schema, place)]
        yield from wrong or path_errors(version, schema, here)
