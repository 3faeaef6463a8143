"""The refusal of an apply that would change what belongs to somebody else."""

from collections.abc import Iterable

from kubekit.api.errors import Conflict
from kubekit.api.status import StatusCause, StatusDetails
from kubekit.plane.apply.entries import UPDATE, Entry, identity
from kubekit.plane.apply.field_sets import FieldSet, paths
from kubekit.plane.apply.path_elements import shown_value

_CAUSE = "FieldManagerConflict"


def refusal(contested: Iterable[tuple[Entry, FieldSet]]) -> Conflict:
    """The error for these fields of these owners, in the words that kubectl's users know."""
    owners = sorted(contested, key=lambda pair: identity(pair[0]))
    told = [(_owner(entry), list(paths(fields))) for entry, fields in owners]
    causes = tuple(
        StatusCause(reason=_CAUSE, message=f"conflict with {owner}", field=path)
        for owner, found in told
        for path in found
    )
    return Conflict(_message(told, len(causes)), StatusDetails(causes=causes))


def _message(told: list[tuple[str, list[str]]], count: int) -> str:
    if count == 1:
        owner, (path,) = told[0]
        return f"Apply failed with 1 conflict: conflict with {owner}: {path}"
    lines = [
        line
        for owner, found in told
        for line in (f"conflicts with {owner}:", *(f"- {path}" for path in found))
    ]
    return f"Apply failed with {count} conflicts: " + "\n".join(lines)


def _owner(entry: Entry) -> str:
    words = shown_value(entry.get("manager", ""))
    if door := entry.get("subresource"):
        words += f" with subresource {shown_value(door)}"
    return f"{words} using {entry['apiVersion']}" if entry["operation"] == UPDATE else words
