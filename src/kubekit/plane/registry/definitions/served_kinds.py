"""Builds the served kinds of a CustomResourceDefinition.

Versions of a kind are converted with the strategy ``None``: only the apiVersion changes.
`spec_rules` validates the definition.
"""

import dataclasses
from collections.abc import Iterable

from msgspec.structs import replace

from kubekit.api import scheme
from kubekit.api.fields import FieldError, invalid
from kubekit.api.kinds.apiextensions import (
    CrdNames,
    CrdVersion,
    CustomResourceDefinition,
    CustomResourceDefinitionSpec,
)
from kubekit.api.resource import AGE, Column, Resource, Scale
from kubekit.api.structural.nodes import Document
from kubekit.plane.errors import PlaneError
from kubekit.plane.registry.definitions import approval, spec_rules
from kubekit.plane.registry.kinds import Conversion, Kind, head_of, rank_of_version


class BadDefinition(PlaneError, ValueError):
    """A CustomResourceDefinition that cannot be served. Each error names its field."""

    def __init__(self, name: str, errors: Iterable[FieldError]) -> None:
        self.errors = tuple(errors)
        reasons = "; ".join(map(str, self.errors))
        super().__init__(f"CustomResourceDefinition {name or 'without a name'}: {reasons}")


def kinds_of(document: Document) -> list[Kind]:
    """The kind, in every version that the definition serves. `BadDefinition` says what is wrong.

    Only for definitions that never change: it assumes that all objects are stored in the current
    storage version.
    """
    definition = _read(document)
    views = served_kinds(definition.spec, definition.spec.names, definition.metadata.annotations)
    return [_settled(kind) if kind.storing else kind for kind in views]


def served_kinds(
    spec: CustomResourceDefinitionSpec,
    names: CrdNames,
    annotations: dict[str, str],
    *,
    terminating: bool = False,
) -> list[Kind]:
    """The kind with these names, in every served version, each a view of the stored form.

    If the stored version is not served, objects are written in the best served version.
    """
    served = [version for version in spec.versions if version.served]
    if not served:
        return []
    stored = next(
        (version for version in served if version.storage),
        max(served, key=lambda version: rank_of_version(version.name)),
    )
    form = _resource(spec, stored, names, annotations)
    views = [
        _kind(
            version,
            _resource(spec, version, names, annotations),
            names,
            form,
            terminating=terminating,
        )
        for version in served
    ]
    return [
        dataclasses.replace(view, warning=_warning(version, view.resource, served))
        if version.deprecated
        else view
        for version, view in zip(served, views, strict=True)
    ]


def storing_kind(spec: CustomResourceDefinitionSpec, names: CrdNames) -> Kind:
    """The kind of the stored form, served or not. It is used to delete the objects."""
    stored = next(version for version in spec.versions if version.storage)
    form = _resource(spec, stored, names, {})
    return _settled(_kind(stored, form, names, form, terminating=True))


def completed(names: CrdNames) -> CrdNames:
    """The names, with the defaults that follow from the others."""
    return replace(
        names,
        singular=names.singular or names.kind.lower(),
        list_kind=names.list_kind or (f"{names.kind}List" if names.kind else ""),
    )


def _read(document: Document) -> CustomResourceDefinition:
    metadata = document.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    try:
        definition = scheme.decode_as(CustomResourceDefinition, document)
    except scheme.DecodeError as error:
        raise BadDefinition(str(name), [invalid(error.path, None, error.why)]) from error
    spec = replace(definition.spec, names=completed(definition.spec.names))
    errors = [
        *approval.errors(spec.group, definition.metadata.annotations),
        *spec_rules.spec_errors(definition.metadata.name, spec),
    ]
    if errors:
        raise BadDefinition(definition.metadata.name, errors)
    return replace(definition, spec=spec)


def _kind(
    version: CrdVersion, resource: Resource, names: CrdNames, form: Resource, *, terminating: bool
) -> Kind:
    schema = version.schema.open_api_v3_schema if version.schema else None
    return Kind(
        resource=resource,
        schema=schema or {},
        storage=f"{resource.group}/{resource.plural}",
        head=head_of(resource),
        conversion=_relabelling(resource, form),
        singular=names.singular,
        list_kind=names.list_kind,
        terminating=terminating,
        storing=resource.version == form.version,
    )


def _warning(version: CrdVersion, resource: Resource, served: Iterable[CrdVersion]) -> str:
    """The deprecation warning of a version. It names a newer version, if there is one."""
    if version.deprecation_warning:
        return version.deprecation_warning
    warning = f"{resource.api_version} {resource.kind} is deprecated"
    ranks = [rank_of_version(other.name) for other in served if not other.deprecated]
    best = max(ranks, default=rank_of_version(version.name))
    if best <= rank_of_version(version.name):
        return warning
    return f"{warning}; use {resource.group}/{best[-1]} {resource.kind}"


def _settled(kind: Kind) -> Kind:
    """The same kind, for objects that are all stored in its own version."""
    return dataclasses.replace(kind, conversion=None)


def _relabelling(view: Resource, form: Resource) -> Conversion:
    """The conversion between two versions. Objects may also be stored in older versions."""

    def labelled(document: Document, resource: Resource) -> Document:
        return {**document, "apiVersion": resource.api_version, "kind": resource.kind}

    return Conversion(
        to_storage=lambda document: labelled(document, form),
        from_storage=lambda document: labelled(document, view),
        relabels=True,
    )


def _resource(
    spec: CustomResourceDefinitionSpec,
    version: CrdVersion,
    names: CrdNames,
    annotations: dict[str, str],
) -> Resource:
    parts = version.subresources
    columns = tuple(
        Column(column.name, column.json_path, column.type, wide=column.priority > 0)
        for column in version.additional_printer_columns
    )
    return Resource(
        group=spec.group,
        version=version.name,
        kind=names.kind,
        plural=names.plural,
        namespaced=spec.scope == "Namespaced",
        short_names=names.short_names,
        categories=names.categories,
        columns=columns or (AGE,),
        status=parts is not None and parts.status is not None,
        scale=_scale(version),
        selectable_fields=tuple(field.json_path for field in version.selectable_fields),
        annotations=annotations,
    )


def _scale(version: CrdVersion) -> Scale | None:
    scale = version.subresources.scale if version.subresources else None
    if scale is None:
        return None
    return Scale(
        scale.spec_replicas_path, scale.status_replicas_path, scale.label_selector_path or ""
    )
