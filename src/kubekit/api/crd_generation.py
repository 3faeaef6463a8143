"""The CustomResourceDefinition of a kind, made from its class."""

from typing import Any

from kubekit.api.meta import Object
from kubekit.api.resource import Column, Resource, Scale
from kubekit.api.schema import Docs, schema_of

Document = dict[str, Any]


def crd(kind: type[Object], docs: Docs) -> Document:
    """The whole CustomResourceDefinition, without empty fields.

    The keys are in reading order, the long schema last.
    """
    resource = kind.RESOURCE
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": _without_empty(name=resource.crd_name, annotations=dict(resource.annotations)),
        "spec": {
            "group": resource.group,
            "names": _names(resource),
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [_version(kind, docs)],
        },
    }


def _names(resource: Resource) -> Document:
    return _without_empty(
        kind=resource.kind,
        listKind=resource.list_kind,
        plural=resource.plural,
        singular=resource.singular,
        shortNames=list(resource.short_names),
        categories=list(resource.categories),
    )


def _version(kind: type[Object], docs: Docs) -> Document:
    resource = kind.RESOURCE
    return _without_empty(
        name=resource.version,
        served=True,
        storage=True,
        additionalPrinterColumns=[_column(column) for column in resource.columns],
        selectableFields=[{"jsonPath": path} for path in resource.selectable_fields],
        subresources=_subresources(resource),
        schema={"openAPIV3Schema": schema_of(kind, docs)},
    )


def _column(column: Column) -> Document:
    return _without_empty(
        name=column.name,
        type=column.type,
        jsonPath=column.path,
        priority=1 if column.wide else 0,
    )


def _subresources(resource: Resource) -> Document:
    status: Document = {"status": {}} if resource.status else {}
    return status | ({"scale": _scale(resource.scale)} if resource.scale else {})


def _scale(scale: Scale) -> Document:
    return _without_empty(
        specReplicasPath=scale.spec_path,
        statusReplicasPath=scale.status_path,
        labelSelectorPath=scale.selector_path,
    )


def _without_empty(**fields: object) -> Document:
    """The fields that are not empty."""
    return {name: value for name, value in fields.items() if value}
