"""The metadata of every object: identity, ownership, labels, and conditions."""

from datetime import datetime
from typing import Annotated, ClassVar, Final, Literal, TypeVar

import msgspec

from kubekit.api.resource import Resource
from kubekit.api.wire import ATOMIC_LIST, ATOMIC_MAP, Int64, Rule, Wire, always

ConditionStatus = Literal["True", "False", "Unknown"]


class OwnerReference(Wire, frozen=True, kw_only=True):
    """An object whose deletion deletes this one."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class OwnedPart(Wire, frozen=True, kw_only=True):
    """A part of an object with owned fields, which are not read in detail."""


class OwnedFields(Wire, frozen=True, kw_only=True):
    """The parts of an object with owned fields.

    Decoding the fields themselves would make a large tree for every object, which is rarely needed.
    """

    spec: OwnedPart | None = msgspec.field(default=None, name="f:spec")


class ManagedFieldsEntry(Wire, frozen=True, kw_only=True):
    """The owner of fields, and roughly which. It is for reading: the server tracks the owners."""

    manager: str = ""
    operation: str = ""
    api_version: str = ""
    time: datetime | None = None
    fields_type: str = ""
    fields_v1: OwnedFields = msgspec.field(default_factory=OwnedFields, name="fieldsV1")
    subresource: str = ""


class ObjectMeta(Wire, frozen=True, kw_only=True):
    """The metadata of a stored object."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()
    managed_fields: tuple[ManagedFieldsEntry, ...] = ()


class TemplateMeta(Wire, frozen=True, kw_only=True):
    """The part of the metadata that a template may set; everything else is pruned."""

    annotations: dict[str, str] = {}
    """Annotations of what is made."""
    finalizers: tuple[str, ...] = ()
    """Not used: a controller that needs a finalizer adds its own."""
    labels: dict[str, str] = {}
    """Labels of what is made. The system adds its own."""
    name: str = ""
    """Not used: names are derived."""
    namespace: str = ""
    """Not used: objects are made in the namespace of the object with the template."""


class Object(Wire, frozen=True, kw_only=True):
    """A stored object of any kind."""

    RESOURCE: ClassVar[Resource]

    api_version: str
    kind: str
    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)

    @property
    def deleting(self) -> bool:
        """Its deletion was requested; finalizers may still hold it."""
        return self.metadata.deletion_timestamp is not None

    def reference(
        self, *, controller: bool | None = None, block_owner_deletion: bool | None = None
    ) -> OwnerReference:
        """The owner reference for objects that are deleted with this one."""
        return OwnerReference(
            api_version=self.api_version,
            kind=self.kind,
            name=self.metadata.name,
            uid=self.metadata.uid,
            controller=controller,
            block_owner_deletion=block_owner_deletion,
        )


K = TypeVar("K", bound=Object)


class Condition(Wire, frozen=True, kw_only=True):
    """One aspect of an object that is true, false or unknown, and why."""

    type: Annotated[
        str,
        Rule(
            max_length=316,
            pattern=(
                r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
                r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
            ),
        ),
    ]
    """The aspect, as an adjective that is true when all is well."""
    status: ConditionStatus
    """True, False or Unknown."""
    observed_generation: Annotated[Int64, Rule(minimum=0)] = 0
    """The generation of the spec that the condition is about."""
    last_transition_time: datetime
    """When the status last changed from one value to another."""
    reason: Annotated[
        str,
        Rule(
            min_length=1,
            max_length=1024,
            pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
            required=True,
        ),
    ] = always("")
    """The cause, as one CamelCase word that programs can compare."""
    message: Annotated[str, Rule(max_length=32768, required=True)] = always("")
    """The cause, as a sentence that a person can act on."""


class LabelSelectorRequirement(Wire, frozen=True, kw_only=True):
    """One requirement on one label."""

    key: str
    """The label that the requirement is about."""
    operator: str
    """In, NotIn, Exists or DoesNotExist."""
    values: Annotated[tuple[str, ...], ATOMIC_LIST] = ()
    """The values it is compared with; empty for Exists and DoesNotExist."""


class LabelSelector(Wire, frozen=True, kw_only=True):
    """Selects objects by their labels. An empty selector selects all of them."""

    match_labels: dict[str, str] = {}
    """Labels that must be present with exactly these values."""
    match_expressions: Annotated[tuple[LabelSelectorRequirement, ...], ATOMIC_LIST] = ()
    """Requirements that must hold besides."""


class LocalRef(Wire, frozen=True, kw_only=True):
    """An object in the same namespace, by name."""

    name: str
    """The name of the object."""


class ListMeta(Wire, frozen=True, kw_only=True):
    """The metadata of a list."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


def with_metadata(obj: K, **changes: object) -> K:
    """The object with these fields of its metadata replaced."""
    return msgspec.structs.replace(obj, metadata=msgspec.structs.replace(obj.metadata, **changes))


def with_spec(obj: K, **changes: object) -> K:
    """The object with these fields of its spec replaced."""
    return _with_part(obj, "spec", changes)


def with_status(obj: K, **changes: object) -> K:
    """The object with these fields of its status replaced."""
    return _with_part(obj, "status", changes)


def _with_part(obj: K, part: str, changes: dict[str, object]) -> K:
    return msgspec.structs.replace(
        obj, **{part: msgspec.structs.replace(getattr(obj, part), **changes)}
    )


Selector = Annotated[LabelSelector, ATOMIC_MAP]
NAME_LIMIT: Final = 253
"""The most characters of a name."""
EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
