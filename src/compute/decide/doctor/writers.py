"""Whether two tools undo each other's changes of a Workload."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from compute.api.compute import Workload
from compute.decide.doctor.checks import Check, Finding
from compute.decide.doctor.facts import Unread, WorkloadFacts
from compute.decide.workload import history
from compute.decide.workload.history import Revision

_RECENT: Final = timedelta(minutes=10)
_FLIPS: Final = 4  # revisions that alternate between two specs: A, B, A, B


def writers_check(facts: WorkloadFacts) -> Finding:
    """Whether several tools write the spec, and undo each other's changes.

    The server records when each tool last wrote, and which fields it owns then. Only the history shows
    that specs alternate.
    """
    workload, now = facts.snapshot.workload, facts.snapshot.at
    writers = spec_writers(workload)
    listed = ", ".join(writers)
    see = f"compute rollout history {workload.metadata.name}"
    known = facts.history
    revisions = () if isinstance(known, Unread) else history.revisions(known)
    flips = revisions[-_FLIPS:]
    if _alternates(flips):
        detail = f"revisions {flips[0].rev} to {flips[-1].rev} alternate between two specs"
        actors = [*dict.fromkeys(revision.actor for revision in flips)]
        if len(actors) > 1 or len(writers) > 1:
            by = listed if len(writers) > 1 else ", ".join(filter(None, actors))
            return Check.WRITERS.failed(f"{detail}, by {by}: stop one of the tools", see)
        return Check.WRITERS.warning(f"{detail}: is something undone again and again?", see)
    recent = [name for name, at in writers.items() if at and now - at < _RECENT]
    if len(recent) > 1:
        detail = f"{', '.join(recent)} all wrote the spec within ten minutes: do they agree?"
        return Check.WRITERS.warning(detail, see)
    by = f"by {listed}" if listed else "by a tool that gave no name"
    return Check.WRITERS.passed(f"the spec is written {by}, and changes are not undone")


def spec_writers(workload: Workload) -> dict[str, datetime | None]:
    """The tools that own fields of the spec, and when each last wrote."""
    known: dict[str, datetime | None] = {}
    for entry in workload.metadata.managed_fields:
        if entry.fields_v1.spec is not None and not entry.subresource:
            before = known.get(entry.manager)
            known[entry.manager] = max(filter(None, (before, entry.time)), default=None)
    return known


def last_spec_write(workload: Workload) -> datetime | None:
    """When the spec was last written: the creation, or a later write that the server recorded."""
    times = (*spec_writers(workload).values(), workload.metadata.creation_timestamp)
    return max(filter(None, times), default=None)


def _alternates(flips: Sequence[Revision]) -> bool:
    """Whether the revisions are two specs in turn."""
    specs = [revision.spec for revision in flips]
    return len(specs) == _FLIPS and specs[0] == specs[2] != specs[1] == specs[3]
