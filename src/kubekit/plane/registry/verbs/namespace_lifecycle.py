"""Checks that an object may be created: its kind and namespace exist and are not terminating."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from kubekit.api import errors
from kubekit.api.errors import NAMESPACE_TERMINATING, Forbidden
from kubekit.api.kinds.core import Namespace
from kubekit.api.resource import Resource
from kubekit.api.status import StatusCause, StatusDetails
from kubekit.plane.registry.context import RegistryContext
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.ownership import is_deleting

STORAGE: Final = "/namespaces"
PROTECTED: Final = frozenset({"default", "kube-system", "kube-public"})


class NamespaceLifecycle:
    """Refuses new objects in namespaces that are absent or terminating.

    A namespace is closed before its deletion is written. Otherwise an object could be created
    meanwhile, and the namespace deleter would miss it.
    """

    def __init__(self, context: RegistryContext) -> None:
        self._context = context
        self._closing: set[str] = set()

    def check(self, kind: Kind, namespace: str, name: str) -> None:
        """Refuse to create an object if its kind or its namespace accepts no new objects."""
        self.check_kind(kind, name)
        if not kind.resource.namespaced or self._is_without_namespaces():
            return
        record = self._context.store.find(STORAGE, namespace)
        if record is None:
            raise errors.not_found(Namespace.RESOURCE, namespace)
        if namespace in self._closing or is_deleting(record):
            raise _terminating(kind.resource, namespace, name)

    def check_kind(self, kind: Kind, name: str) -> None:
        """Refuse to create an object of a kind that is terminating or no longer served."""
        resource = kind.resource
        served = self._context.kinds.find(resource.group, resource.version, resource.plural)
        if served is None:
            raise errors.NotFound("the server could not find the requested resource")
        if served.terminating:
            raise _kind_terminating(resource, name)

    @contextmanager
    def closing(self, kind: Kind, name: str) -> Iterator[None]:
        """Close a namespace for new objects inside the block. It does nothing for other kinds."""
        if kind.storage != STORAGE or name in self._closing:
            yield
            return
        self._closing.add(name)
        try:
            yield
        finally:
            self._closing.discard(name)

    def _is_without_namespaces(self) -> bool:
        """Whether the plane does not serve namespaces at all; then none can be created."""
        return self._context.kinds.find("", "v1", "namespaces") is None


def _kind_terminating(resource: Resource, name: str) -> Forbidden:
    named = f"{resource.plural}.{resource.group}"
    return Forbidden(
        f'{named} "{name}" is forbidden: create not allowed while custom resource definition is '
        "terminating",
        StatusDetails(name=name, group=resource.group, kind=resource.plural),
    )


def _terminating(resource: Resource, namespace: str, name: str) -> Forbidden:
    named = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    cause = StatusCause(
        reason=NAMESPACE_TERMINATING,
        message=f"namespace {namespace} is being terminated",
        field="metadata.namespace",
    )
    return Forbidden(
        f'{named} "{name}" is forbidden: unable to create new content in namespace {namespace} '
        "because it is being terminated",
        StatusDetails(name=name, group=resource.group, kind=resource.plural, causes=(cause,)),
    )
