"""The types of the Kubernetes API, and the rules by which they are read, checked and selected.

Nothing here does I/O, reads a clock or keeps a log. Start reading with `meta`, the metadata of every
object, `wire`, how a class becomes JSON, `scheme`, the registry of kinds, and `errors`. The kinds of
Kubernetes itself are in `kinds`, selectors in `selectors`, the validation of structural schemas in
`structural`.

    Object                 the base class of every kind: apiVersion, kind, metadata
    ObjectMeta             name, namespace, uid, labels, owners and so on
    Condition              one entry of ``status.conditions``
    OwnerReference         the object whose deletion deletes this one
    Resource               group, version, plural, scope and columns of a kind
    Wire, Rule             the base class of all structs, and the schema rules of a field
    register, decode       add a class to the scheme, and decode a document as its class
    Quantity               amounts such as ``500m`` or ``2Gi``
    ApiError               the base class of every refusal; the others are in `errors`
    Status                 a refusal as the API sends it
    FieldError             what is wrong with one field
    crd                    the CustomResourceDefinition of a class

A name is imported when it is first used, because `kubekit.api.times` alone should not load a schema.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kubekit.api.crd_generation import crd
    from kubekit.api.errors import ApiError
    from kubekit.api.fields import FieldError
    from kubekit.api.meta import Condition, Object, ObjectMeta, OwnerReference
    from kubekit.api.quantity import Quantity
    from kubekit.api.resource import Resource
    from kubekit.api.scheme import decode, register
    from kubekit.api.status import Status
    from kubekit.api.wire import Rule, Wire
else:
    _MODULES: Final = {
        "ApiError": "errors",
        "Condition": "meta",
        "FieldError": "fields",
        "Object": "meta",
        "ObjectMeta": "meta",
        "OwnerReference": "meta",
        "Quantity": "quantity",
        "Resource": "resource",
        "Rule": "wire",
        "Status": "status",
        "Wire": "wire",
        "crd": "crd_generation",
        "decode": "scheme",
        "register": "scheme",
    }

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


__all__ = [
    "ApiError",
    "Condition",
    "FieldError",
    "Object",
    "ObjectMeta",
    "OwnerReference",
    "Quantity",
    "Resource",
    "Rule",
    "Status",
    "Wire",
    "crd",
    "decode",
    "register",
]
