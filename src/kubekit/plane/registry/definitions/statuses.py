"""The status of a definition: accepted names, whether its kind is established, and its deletion."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from kubekit.api.kinds.apiextensions import CrdNames
from kubekit.plane.registry.definitions.naming import NamingResult

ESTABLISHED: Final = "Established"
TERMINATING: Final = "Terminating"

Status = dict[str, Any]
Condition = dict[str, str]


@dataclass(frozen=True, slots=True)
class StatusInputs:
    """The inputs of the status, beyond the previous status."""

    judged: NamingResult
    storage_version: str
    more: tuple[Condition, ...] = ()
    terminating: bool = False


def completed(status: Mapping[str, Any], facts: StatusInputs, now: str) -> Status:
    """The complete status. Other fields stay unchanged."""
    judged = facts.judged
    served = is_served(status, judged)
    conditions = [_names_accepted(judged), _established(established=served), *facts.more]
    if facts.terminating:
        conditions.append(_IN_PROGRESS)
    return {
        **status,
        "conditions": _with_transitions(status.get("conditions") or [], conditions, now),
        "acceptedNames": msgspec.json.decode(msgspec.json.encode(judged.accepted)),
        "storedVersions": stored_versions(status, facts.storage_version),
    }


def is_served(status: Mapping[str, Any], judged: NamingResult) -> bool:
    """Whether the kind is served: once established, as long as it has a plural and a kind name."""
    named = bool(judged.accepted.plural and judged.accepted.kind)
    return judged.all_accepted or (named and is_established(status))


def is_established(status: Mapping[str, Any]) -> bool:
    """Whether the status has the condition Established."""
    return any(
        condition.get("type") == ESTABLISHED and condition.get("status") == "True"
        for condition in status.get("conditions") or ()
    )


def accepted_names(status: Mapping[str, Any]) -> CrdNames:
    """The accepted names of the status."""
    return msgspec.convert(status.get("acceptedNames") or {}, CrdNames)


def stored_versions(status: Mapping[str, Any], storage_version: str) -> list[str]:
    """The versions that objects may be stored in, including the current storage version."""
    known: list[str] = [*(status.get("storedVersions") or ())]
    return known if storage_version in known else [*known, storage_version]


_IN_PROGRESS: Final[Condition] = {
    "type": TERMINATING,
    "status": "True",
    "reason": "InstanceDeletionInProgress",
    "message": "CustomResource deletion is in progress",
}


def _names_accepted(judged: NamingResult) -> Condition:
    if judged.all_accepted:
        condition = {"status": "True", "reason": "NoConflicts", "message": "no conflicts found"}
    else:
        message = f'"{judged.name}" is already in use'
        condition = {"status": "False", "reason": judged.reason, "message": message}
    return {"type": "NamesAccepted", **condition}


def _established(*, established: bool) -> Condition:
    if established:
        condition = {
            "status": "True",
            "reason": "InitialNamesAccepted",
            "message": "the initial names have been accepted",
        }
    else:
        condition = {
            "status": "False",
            "reason": "NotAccepted",
            "message": "not all names are accepted",
        }
    return {"type": ESTABLISHED, **condition}


def _with_transitions(
    before: Iterable[Condition], wanted: Iterable[Condition], now: str
) -> list[Condition]:
    """The conditions in their present order, each with the time when its status last changed."""
    by_type = {condition.get("type", ""): condition for condition in before}
    for condition in wanted:
        known = by_type.get(condition["type"], {})
        since = known.get("lastTransitionTime", now)
        moment = since if known.get("status") == condition["status"] else now
        by_type[condition["type"]] = {**condition, "lastTransitionTime": moment}
    return [*by_type.values()]
