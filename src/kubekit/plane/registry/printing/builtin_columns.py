"""The table columns of the built-in kinds, as in kubectl."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kubekit.api.kinds import admission, rbac
from kubekit.api.resource import Resource
from kubekit.client.transport import Document
from kubekit.plane.registry.printing import ages

Cell = Callable[[Document, datetime], object]


@dataclass(frozen=True, slots=True)
class Printed:
    """One column: its definition in a Table, and the function that computes its cells."""

    definition: Document
    cell: Cell


def find(resource: Resource) -> tuple[Printed, ...]:
    """The columns of a built-in kind; none for any other."""
    return _BY_KIND.get((resource.group, resource.kind), ())


def definition(
    name: str, description: str, *, type_: str = "string", format_: str = "", wide: bool = False
) -> Document:
    """A column as a Table describes it."""
    return {
        "name": name,
        "type": type_,
        "format": format_,
        "description": description,
        "priority": 1 if wide else 0,
    }


def _column(name: str, description: str, cell: Cell, *, wide: bool = False) -> Printed:
    return Printed(definition(name, description, wide=wide), cell)


def _name(document: Document, _: datetime) -> object:
    return document["metadata"].get("name", "")


def _text(*path: str) -> Cell:
    """The text at a path; empty when it is missing."""

    def cell(document: Document, _: datetime) -> object:
        return _at(document, path) or ""

    return cell


def _count(*fields: str) -> Cell:
    """The total number of entries in the fields."""

    def cell(document: Document, _: datetime) -> object:
        return sum(len(document.get(field) or ()) for field in fields)

    return cell


def _created(document: Document, _: datetime) -> object:
    return document["metadata"].get("creationTimestamp", "")


def _role(document: Document, _: datetime) -> object:
    ref = document.get("roleRef", {})  # a bookmark has none
    return f"{ref.get('kind', '')}/{ref.get('name', '')}"


def _subjects(kind: str) -> Cell:
    """The names of a binding's subjects of one kind; a service account with its namespace."""

    def cell(document: Document, _: datetime) -> object:
        subjects = [one for one in document.get("subjects") or () if one["kind"] == kind]
        if kind == "ServiceAccount":
            return ", ".join(f"{one.get('namespace', '')}/{one['name']}" for one in subjects)
        return ", ".join(one["name"] for one in subjects)

    return cell


def _age(document: Document, now: datetime) -> object:
    return ages.since(document["metadata"].get("creationTimestamp"), now)


def _at(document: Document, path: tuple[str, ...]) -> object:
    value: object = document
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


@dataclass(frozen=True, slots=True)
class _EventFields:
    """The field names of one event version."""

    subject: str
    message: str
    source: str
    reporter: str
    first: str
    last: str
    count: str

    def columns(self) -> tuple[Printed, ...]:
        return (
            _column("Last Seen", "When it happened last.", self.last_seen),
            _column("Type", "Normal or Warning.", _text("type")),
            _column("Reason", "Why it happened, in one word.", _text("reason")),
            _column("Object", "What it happened to.", self.named),
            _column("Subobject", "The part of it.", _text(self.subject, "fieldPath"), wide=True),
            _column("Source", "Who reported it.", self.reported_by, wide=True),
            _column("Message", "What happened, in words.", self.message_of),
            _column("First Seen", "When it happened first.", self.first_seen, wide=True),
            _column("Count", "How often it happened.", self.times, wide=True),
            Printed(NAME.definition | {"priority": 1}, _name),
        )

    def first_seen(self, event: Document, now: datetime) -> str:
        return ages.since(event.get(self.first) or event.get("eventTime"), now)

    def last_seen(self, event: Document, now: datetime) -> str:
        in_series = _at(event, ("series", "lastObservedTime"))
        when = in_series or event.get(self.last)
        return ages.since(when, now) if when else self.first_seen(event, now)

    def named(self, event: Document, _: datetime) -> str:
        kind = str(_at(event, (self.subject, "kind")) or "").lower()
        name = _at(event, (self.subject, "name"))
        return f"{kind}/{name}" if name else kind

    def reported_by(self, event: Document, _: datetime) -> str:
        component = _at(event, (self.source, "component")) or event.get(self.reporter) or ""
        instance = _at(event, (self.source, "host")) or event.get("reportingInstance")
        return f"{component}, {instance}" if instance else str(component)

    def message_of(self, event: Document, _: datetime) -> str:
        return str(event.get(self.message) or "").strip()

    def times(self, event: Document, _: datetime) -> object:
        return _at(event, ("series", "count")) or event.get(self.count) or 1


NAME: Final = Printed(
    definition("Name", "The name of the object, unique in its namespace.", format_="name"), _name
)
AGE: Final = _column("Age", "How long ago the object was created.", _age)

_OLD_EVENT: Final = _EventFields(
    subject="involvedObject",
    message="message",
    source="source",
    reporter="reportingComponent",
    first="firstTimestamp",
    last="lastTimestamp",
    count="count",
)
_NEW_EVENT: Final = _EventFields(
    subject="regarding",
    message="note",
    source="deprecatedSource",
    reporter="reportingController",
    first="deprecatedFirstTimestamp",
    last="deprecatedLastTimestamp",
    count="deprecatedCount",
)
_WEBHOOKS: Final = (
    NAME,
    Printed(
        definition("Webhooks", "How many webhooks it has.", type_="integer"), _count("webhooks")
    ),
    AGE,
)
_ROLES: Final = (
    NAME,
    Printed(definition("Created At", "When the object was created.", type_="date"), _created),
)
_BINDINGS: Final = (
    NAME,
    _column("Role", "The role that is granted.", _role),
    AGE,
    _column("Users", "The users it is given to.", _subjects("User"), wide=True),
    _column("Groups", "The groups it is given to.", _subjects("Group"), wide=True),
    _column(
        "ServiceAccounts",
        "The service accounts it is given to.",
        _subjects("ServiceAccount"),
        wide=True,
    ),
)
_BY_KIND: Final[Mapping[tuple[str, str], tuple[Printed, ...]]] = {
    ("", "Namespace"): (
        NAME,
        _column("Status", "Active, or Terminating.", _text("status", "phase")),
        AGE,
    ),
    ("", "ConfigMap"): (
        NAME,
        _column("Data", "How many keys it has.", _count("data", "binaryData")),
        AGE,
    ),
    ("", "Secret"): (
        NAME,
        _column("Type", "What the data is for.", _text("type")),
        _column("Data", "How many keys it has.", _count("data")),
        AGE,
    ),
    ("", "ServiceAccount"): (
        NAME,
        _column("Secrets", "How many secrets it names.", _count("secrets")),
        AGE,
    ),
    ("coordination.k8s.io", "Lease"): (
        NAME,
        _column("Holder", "Who holds it.", _text("spec", "holderIdentity")),
        AGE,
    ),
    (admission.GROUP, "MutatingWebhookConfiguration"): _WEBHOOKS,
    (admission.GROUP, "ValidatingWebhookConfiguration"): _WEBHOOKS,
    (rbac.GROUP, "Role"): _ROLES,
    (rbac.GROUP, "ClusterRole"): _ROLES,
    (rbac.GROUP, "RoleBinding"): _BINDINGS,
    (rbac.GROUP, "ClusterRoleBinding"): _BINDINGS,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (
        NAME,
        Printed(
            definition("Created At", "When the definition was created.", type_="date"),
            _text("metadata", "creationTimestamp"),
        ),
    ),
    ("", "Event"): _OLD_EVENT.columns(),
    ("events.k8s.io", "Event"): _NEW_EVENT.columns(),
}
