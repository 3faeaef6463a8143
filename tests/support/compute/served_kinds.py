"""Kinds as planes serve them, without a plane."""

from functools import cache

from compute.app import crds
from kubekit.plane.registry import builtins
from kubekit.plane.registry.definitions.served_kinds import kinds_of
from kubekit.plane.registry.kinds import Kind, Kinds


@cache
def custom(*families: crds.Family) -> tuple[Kind, ...]:
    """The kinds of some families, or of all."""
    return tuple(kind for document in crds.definitions(*families) for kind in kinds_of(document))


@cache
def everything() -> Kinds:
    """Kubernetes' own kinds, compute's, and those of its neighbours."""
    return Kinds((*builtins.native(), *custom()))
