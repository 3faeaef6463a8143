"""The names of the kinds' schemas in OpenAPI documents.

The names are those of Kubernetes: ``io.k8s.api.core.v1.Secret`` for its own kinds, and the group
in reverse order for all others, as in ``com.datumapis.compute.v1alpha.Workload``.
"""

from collections.abc import Mapping
from typing import Final

from kubekit.plane.registry.kinds import Kind

_PACKAGES: Final[Mapping[str, str]] = {
    "apiextensions.k8s.io": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
}


def schema_name(kind: Kind) -> str:
    return f"{_package(kind)}.{kind.resource.kind}"


def list_name(kind: Kind) -> str:
    return f"{_package(kind)}.{kind.list_kind}"


def kind_triple(kind: Kind) -> dict[str, str]:
    """The group, version and kind of a schema: clients find it by them."""
    resource = kind.resource
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def _package(kind: Kind) -> str:
    group, version = kind.resource.group, kind.resource.version
    if kind.custom:
        return f"{'.'.join(reversed(group.split('.')))}.{version}"
    return f"{_PACKAGES.get(group) or _usual_package(group)}.{version}"


def _usual_package(group: str) -> str:
    return f"io.k8s.api.{group.partition('.')[0] or 'core'}"
