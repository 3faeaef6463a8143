"""The conflict error of an apply that would change fields of other managers."""

from collections.abc import Iterable

from kubekit.api.errors import Conflict
from kubekit.api.status import StatusCause, StatusDetails
from kubekit.plane.apply.entries import UPDATE, Entry, identity
from kubekit.plane.apply.field_sets import FieldSet, paths
from kubekit.plane.apply.path_elements import shown_value

_CAUSE = "FieldManagerConflict"


def refusal(contested: Iterable[tuple[Entry, FieldSet]]) -> Conflict:
    """The error for these fields of these owners, with the text of Kubernetes."""
    owners = sorted(contested, key=lambda pair: identity(pair[0]))
    conflicts = [(_owner(entry), list(paths(fields))) for entry, fields in owners]
    causes = tuple(
        StatusCause(reason=_CAUSE, message=f"conflict with {owner}", field=path)
        for owner, owned in conflicts
        for path in owned
    )
    return Conflict(_message(conflicts, len(causes)), StatusDetails(causes=causes))


def _message(conflicts: list[tuple[str, list[str]]], count: int) -> str:
    if count == 1:
        owner, (path,) = conflicts[0]
        return f"Apply failed with 1 conflict: conflict with {owner}: {path}"
    lines = [
        line
        for owner, owned in conflicts
        for line in (f"conflicts with {owner}:", *(f"- {path}" for path in owned))
    ]
    return f"Apply failed with {count} conflicts: " + "\n".join(lines)


def _owner(entry: Entry) -> str:
    owner = shown_value(entry.get("manager", ""))
    if subresource := entry.get("subresource"):
        owner += f" with subresource {shown_value(subresource)}"
    return f"{owner} using {entry['apiVersion']}" if entry["operation"] == UPDATE else owner
