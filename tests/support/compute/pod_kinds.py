"""Planes that serve Pods and what belongs to them, as a cluster does: ours do not.

A Pod is deleted as in Kubernetes: it stays until the kubelet of its node has confirmed that it has
stopped, for which a finalizer stands here. One that no node has is gone at once.
"""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

from kubekit.api.kinds.network_policies import NetworkPolicy
from kubekit.api.kinds.nodes import ClusterNode
from kubekit.api.kinds.pods import Pod, Service
from kubekit.api.meta import Object
from kubekit.api.schema import schema_of
from kubekit.plane.registry.kinds import Kind, Kinds, head_of
from tests.support.compute import served_kinds
from tests.support.kubekit.stage import Stage, staging
from tests.support.kubekit.virtual_time import run

_KINDS = (Pod, Service, ClusterNode, NetworkPolicy)


@cache
def with_pods() -> Kinds:
    """Every kind of a plane, and those of Pods."""
    return served_kinds.everything().with_kinds(_kind(kind) for kind in _KINDS)


def _kind(kind: type[Object]) -> Kind:
    resource = kind.RESOURCE
    return Kind(
        resource=resource,
        schema=schema_of(kind, lambda _: {}),
        storage=f"{resource.group}/{resource.plural}",
        head=head_of(resource),
        custom=False,
    )


@asynccontextmanager
async def staging_pods(directory: Path) -> AsyncIterator[Stage]:
    """A stage with one cell, ``dfw``, that serves Pods."""
    async with staging(directory, kinds=with_pods()) as stage:
        await stage.engage("cell", "dfw")
        yield stage


def staged_pods(directory: Path, story: Callable[[Stage], Coroutine[Any, Any, None]]) -> None:
    """Run a test on a stage with a cell that serves Pods, on virtual time."""

    async def tell() -> None:
        async with staging_pods(directory) as stage:
            await story(stage)

    run(tell())
