"""The CustomResourceDefinition of a kind, made from its class."""

from typing import Any

from kubekit.api.meta import Object
from kubekit.api.resource import Column, Resource, Scale
from kubekit.api.schema import Docs, schema_of

Document = dict[str, Any]


def crd(kind: type[Object], docs: Docs) -> Document:
    """The whole CustomResourceDefinition, with nothing in it that says nothing.

    The keys stand in the order a person reads them, the schema last.
    """
    resource = kind.RESOURCE
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": _said(name=resource.crd_name, annotations=dict(resource.annotations)),
        "spec": {
            "group": resource.group,
            "names": _names(resource),
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [_version(kind, docs)],
        },
    }


def _names(resource: Resource) -> Document:
    return _said(
        kind=resource.kind,
        listKind=resource.list_kind,
        plural=resource.plural,
        singular=resource.singular,
        shortNames=list(resource.short_names),
        categories=list(resource.categories),
    )


def _version(kind: type[Object], docs: Docs) -> Document:
    resource = kind.RESOURCE
    return _said(
        name=resource.version,
        served=True,
        storage=True,
        additionalPrinterColumns=[_column(column) for column in resource.columns],
        selectableFields=[{"jsonPath": path} for path in resource.selectable_fields],
        subresources=_subresources(resource),
        schema={"openAPIV3Schema": schema_of(kind, docs)},
    )


def _column(column: Column) -> Document:
    return _said(
        name=column.name,
        type=column.type,
        jsonPath=column.path,
        priority=1 if column.wide else 0,
    )


def _subresources(resource: Resource) -> Document:
    status: Document = {"status": {}} if resource.status else {}
    return status | ({"scale": _scale(resource.scale)} if resource.scale else {})


def _scale(scale: Scale) -> Document:
    return _said(
        specReplicasPath=scale.spec_path,
        statusReplicasPath=scale.status_path,
        labelSelectorPath=scale.selector_path,
    )


def _said(**parts: object) -> Document:
    """The parts that say something."""
    return {name: part for name, part in parts.items() if part}
