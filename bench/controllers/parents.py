"""What the measured controllers reconcile: a parent of about 1 KB gets one child and a status."""

from typing import Any, ClassVar, Final, Literal

import msgspec

from kubekit.api.meta import Object
from kubekit.api.resource import Resource
from kubekit.api.wire import Wire, always

GROUP: Final = "bench.test"
VERSION: Final = "v1"
PLURAL: Final = "parents"
CHILD_DATA: Final = {"made": "by the controller"}
_TEXT: Final = "so that an object is as large as most objects are " * 16


class ParentSpec(Wire, frozen=True, kw_only=True):
    """Words, to have a size."""

    text: str = ""


class ParentStatus(Wire, frozen=True, kw_only=True):
    """Which child it has."""

    child: str = ""


class Parent(Object, frozen=True, kw_only=True):
    """What gets a child."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP, version=VERSION, kind="Parent", plural=PLURAL, status=True
    )

    api_version: Literal["bench.test/v1"] = always("bench.test/v1")
    kind: Literal["Parent"] = always("Parent")
    spec: ParentSpec = msgspec.field(default_factory=ParentSpec)
    status: ParentStatus = msgspec.field(default_factory=ParentStatus)


def definition() -> dict[str, Any]:
    """The CustomResourceDefinition of parents."""
    text = {"type": "object", "properties": {"text": {"type": "string"}}}
    child = {"type": "object", "properties": {"child": {"type": "string"}}}
    schema = {"type": "object", "properties": {"spec": text, "status": child}}
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": "Parent", "plural": PLURAL, "singular": "parent"},
            "versions": [version],
        },
    }


def parent(namespace: str, name: str) -> dict[str, Any]:
    """One parent, as it is created."""
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "Parent",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"text": _TEXT},
    }
