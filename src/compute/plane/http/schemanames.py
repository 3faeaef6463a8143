"""What OpenAPI documents call the schema of a kind.

The names are those of Kubernetes: ``io.k8s.api.core.v1.Secret`` for its own kinds, and the group
read backwards for all others, as in ``com.datumapis.compute.v1alpha.Workload``.
"""

from compute.plane.registry.kinds import Kind


def schema_name(kind: Kind) -> str:
    return f"{_package(kind)}.{kind.resource.kind}"


def list_name(kind: Kind) -> str:
    return f"{_package(kind)}.{kind.list_kind}"


def kind_triple(kind: Kind) -> dict[str, str]:
    """Group, version and kind, by which clients find a schema."""
    resource = kind.resource
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def _package(kind: Kind) -> str:
    group, version = kind.resource.group, kind.resource.version
    if kind.custom:
        return f"{'.'.join(reversed(group.split('.')))}.{version}"
    return f"io.k8s.api.{group.split('.')[0] or 'core'}.{version}"
