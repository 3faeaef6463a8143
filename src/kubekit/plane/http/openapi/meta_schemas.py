"""The schemas that all kinds share, for OpenAPI: metadata, options, statuses, scales."""

from typing import Any, Final

Schema = dict[str, Any]

REFERENCE: Final = "#/components/schemas/"
_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
DELETE_OPTIONS: Final = f"{_META}.DeleteOptions"
LIST_META: Final = f"{_META}.ListMeta"
OBJECT_META: Final = f"{_META}.ObjectMeta"
PATCH: Final = f"{_META}.Patch"
SCALE: Final = "io.k8s.api.autoscaling.v1.Scale"
STATUS: Final = f"{_META}.Status"
_FIELDS: Final = f"{_META}.FieldsV1"
_MANAGED_FIELDS: Final = f"{_META}.ManagedFieldsEntry"
_OWNER_REFERENCE: Final = f"{_META}.OwnerReference"
_PRECONDITIONS: Final = f"{_META}.Preconditions"
_STATUS_CAUSE: Final = f"{_META}.StatusCause"
_STATUS_DETAILS: Final = f"{_META}.StatusDetails"
_TIME: Final = f"{_META}.Time"


def reference(name: str, description: str = "") -> Schema:
    """A reference to another schema. A bare ``$ref`` must not have siblings."""
    target = {"$ref": REFERENCE + name}
    return {"description": description, "allOf": [target]} if description else target


def type_fields() -> Schema:
    """The two fields that identify the type of every document."""
    return {
        "apiVersion": _text("The group and version that this object is written in."),
        "kind": _text("The kind of this object, in CamelCase."),
    }


def _text(description: str) -> Schema:
    return {"description": description, "type": "string"}


def _integer(description: str, size: int = 64) -> Schema:
    return {"description": description, "type": "integer", "format": f"int{size}"}


def _flag(description: str) -> Schema:
    return {"description": description, "type": "boolean"}


def _list(description: str, items: Schema, kind: str = "atomic", *keys: str) -> Schema:
    list_type = {"x-kubernetes-list-type": kind}
    merged: Schema = {"x-kubernetes-list-map-keys": list(keys)} if keys else {}
    return {"description": description, "type": "array", "items": items, **list_type, **merged}


def _map(description: str) -> Schema:
    value = {"type": "string"}
    return {"description": description, "type": "object", "additionalProperties": value}


def _object(description: str, properties: Schema, *required: str) -> Schema:
    must: Schema = {"required": list(required)} if required else {}
    return {"description": description, "type": "object", **must, "properties": properties}


def _known_as(group: str, kind: str) -> Schema:
    return {"x-kubernetes-group-version-kind": [{"group": group, "version": "v1", "kind": kind}]}


_TYPED: Final = type_fields()

SHARED: Final[dict[str, Schema]] = {
    _TIME: {
        "description": "A moment, as RFC 3339 writes it.",
        "type": "string",
        "format": "date-time",
    },
    PATCH: {"description": "A patch, in the form that its content type names.", "type": "object"},
    OBJECT_META: _object(
        "The metadata of a stored object.",
        {
            "annotations": _map("Notes of tools and users; not for selectors."),
            "creationTimestamp": reference(
                _TIME, "When the object was created. Set by the server."
            ),
            "deletionGracePeriodSeconds": _integer("How long the deletion may take."),
            "deletionTimestamp": reference(
                _TIME, "When its deletion was requested. Set by the server."
            ),
            "finalizers": _list(
                "What must still happen before the object is removed.", {"type": "string"}, "set"
            )
            | {"x-kubernetes-patch-strategy": "merge"},
            "generateName": _text("The prefix of a generated name; used if name is empty."),
            "generation": _integer("Counts the changes of the spec. Set by the server."),
            "labels": _map("Labels for selectors."),
            "managedFields": _list("Which writer owns which fields.", reference(_MANAGED_FIELDS)),
            "name": _text("Names the object within its kind and namespace; it cannot be changed."),
            "namespace": _text("The namespace that the object is in; it cannot be changed."),
            "ownerReferences": _list(
                "The owners of this object: it is deleted with them.",
                reference(_OWNER_REFERENCE),
                "map",
                "uid",
            )
            | {"x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "uid"},
            "resourceVersion": _text("The version of the object, to be handed back as it is."),
            "selfLink": _text("No longer used."),
            "uid": _text("Unique among all objects of all times. Set by the server."),
        },
    ),
    _OWNER_REFERENCE: _object(
        "An object whose removal removes this one.",
        {
            "apiVersion": _text("The owner's group and version."),
            "blockOwnerDeletion": _flag(
                "Whether a foreground deletion of the owner waits for this."
            ),
            "controller": _flag("Whether the owner is the one that manages this object."),
            "kind": _text("The owner's kind."),
            "name": _text("The owner's name."),
            "uid": _text("The owner's uid."),
        },
        "apiVersion",
        "kind",
        "name",
        "uid",
    )
    | {"x-kubernetes-map-type": "atomic"},
    _MANAGED_FIELDS: _object(
        "Which fields one writer owns.",
        {
            "apiVersion": _text("The version that the fields are written in."),
            "fieldsType": _text("The form of the fields: FieldsV1."),
            "fieldsV1": reference(_FIELDS, "The fields, as a tree."),
            "manager": _text("The writer."),
            "operation": _text("Apply or Update."),
            "subresource": _text("The subresource that was written, if one was."),
            "time": reference(_TIME, "When the fields last changed hands."),
        },
    ),
    _FIELDS: {"description": "Names of fields, nested as the fields are.", "type": "object"},
    LIST_META: _object(
        "The metadata of a list.",
        {
            "continue": _text("The token for the next page; empty on the last one."),
            "remainingItemCount": _integer("How many objects the later pages hold, if known."),
            "resourceVersion": _text("The version of the collection that the list shows."),
            "selfLink": _text("No longer used."),
        },
    ),
    DELETE_OPTIONS: _object(
        "How to delete.",
        _TYPED
        | {
            "dryRun": _list("All: judge the request, but remove nothing.", {"type": "string"}),
            "gracePeriodSeconds": _integer("How long the deletion may take; 0 means at once."),
            "orphanDependents": _flag("Older form of propagationPolicy."),
            "preconditions": reference(_PRECONDITIONS, "What must hold, or nothing is removed."),
            "propagationPolicy": _text("Dependents: Orphan, Background or Foreground."),
        },
    )
    | _known_as("", "DeleteOptions"),
    _PRECONDITIONS: _object(
        "What must hold of an object before it is removed.",
        {
            "resourceVersion": _text("The version it must have."),
            "uid": _text("The uid it must have."),
        },
    ),
    STATUS: _object(
        "The outcome of a request.",
        _TYPED
        | {
            "code": _integer("The HTTP status.", 32),
            "details": reference(_STATUS_DETAILS, "Which object was meant, and what was wrong."),
            "message": _text("What happened, for people."),
            "metadata": reference(LIST_META, "Metadata of a list, mostly empty."),
            "reason": _text("What happened, for programs: one CamelCase word."),
            "status": _text("Success or Failure."),
        },
    )
    | _known_as("", "Status"),
    _STATUS_DETAILS: _object(
        "Which object was meant, and what was wrong with it.",
        {
            "causes": _list("One entry for each thing that was wrong.", reference(_STATUS_CAUSE)),
            "group": _text("The group of the object."),
            "kind": _text("The kind or resource of the object."),
            "name": _text("The name of the object."),
            "retryAfterSeconds": _integer("When to try again.", 32),
            "uid": _text("The uid of the object."),
        },
    ),
    _STATUS_CAUSE: _object(
        "One thing that was wrong.",
        {
            "field": _text("The path of the field."),
            "message": _text("What was wrong, for people."),
            "reason": _text("What was wrong, for programs."),
        },
    ),
    SCALE: _object(
        "How many there are of something, and how many there should be.",
        _TYPED
        | {
            "metadata": reference(OBJECT_META, "The metadata of the object that is scaled."),
            "spec": _object("What is wanted.", {"replicas": _integer("How many.", 32)}),
            "status": _object(
                "What is there.",
                {
                    "replicas": _integer("How many.", 32),
                    "selector": _text("Selects what is counted."),
                },
                "replicas",
            ),
        },
    )
    | _known_as("autoscaling", "Scale"),
}
