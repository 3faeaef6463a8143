"""The revisions of a Workload: what changed, who changed it, how it ended, and where each runs now."""

from collections.abc import Iterable, Mapping

import msgspec

from compute.api.compute import Instance, Workload, WorkloadSpec
from compute.decide import joins
from compute.decide.overrides.annotated import cities_of
from compute.decide.workload import history, spec_diff
from compute.decide.workload.history import Revision, RevisionEntry, RevisionStatus
from compute.decide.workload.running_revisions import RunningRevisions
from compute.views.masking import masked
from compute.views.view import View
from kubekit.api.kinds.core import ConfigMap


class RevisionView(View, frozen=True, kw_only=True):
    """A revision. The names of its fields are those of the stored history.

    ``spec`` has no values of environment variables; it is None if it cannot be read. ``cities`` is
    None where the Instances may not be read.
    """

    rev: int
    timestamp: str  # RFC 3339, as the history has it
    image: str
    changes: str
    actor: str
    template_hash: str
    healthy_at: str  # when every city first served it; empty if that never happened
    note: str
    status: RevisionStatus
    cities: tuple[str, ...] | None  # that run it now
    spec: dict[str, object] | None


class RevisionDiffView(View, frozen=True, kw_only=True):
    """A revision, and its differences from the one before it.

    The spec of the other one has no values either. In the spec of the revision itself, a value that is
    another one than before is marked.
    """

    revision: RevisionView
    before: int | None
    before_spec: dict[str, object] | None
    differences: tuple[str, ...]


def revision_views(
    workload: Workload, revisions: ConfigMap | None, instances: Iterable[Instance] | None
) -> tuple[RevisionView, ...]:
    """Every revision, the newest first."""
    cities = None if instances is None else _cities(workload, revisions, instances)
    return tuple(_view(entry, cities) for entry in history.entries(revisions))


def revision_diff(
    number: int,
    workload: Workload,
    revisions: ConfigMap | None,
    instances: Iterable[Instance] | None,
) -> RevisionDiffView | None:
    """One revision with its differences from the one before it that is kept; None if it is unknown."""
    entries = {entry.revision.rev: entry for entry in history.entries(revisions)}
    if number not in entries:
        return None
    cities = None if instances is None else _cities(workload, revisions, instances)
    before = max((rev for rev in entries if rev < number), default=None)
    old = None if before is None else history.spec_of(entries[before].revision)
    new = history.spec_of(entries[number].revision)
    return RevisionDiffView(
        revision=_view(entries[number], cities, old),
        before=before,
        before_spec=_document(old) if old else None,
        differences=spec_diff.describe(old, new) if old and new else (),
    )


def _view(
    entry: RevisionEntry,
    cities: Mapping[int, tuple[str, ...]] | None,
    before: WorkloadSpec | None = None,
) -> RevisionView:
    revision: Revision = entry.revision
    spec = history.spec_of(revision)
    return RevisionView(
        rev=revision.rev,
        timestamp=revision.timestamp,
        image=revision.image,
        changes=revision.changes,
        actor=revision.actor,
        template_hash=revision.template_hash,
        healthy_at=revision.healthy_at,
        note=revision.note,
        status=entry.status,
        cities=None if cities is None else cities.get(revision.rev, ()),
        spec=_document(spec, before) if spec else None,
    )


def _document(spec: WorkloadSpec, before: WorkloadSpec | None = None) -> dict[str, object]:
    document: dict[str, object] = msgspec.to_builtins(masked(spec, before))
    return document


def _cities(
    workload: Workload, revisions: ConfigMap | None, instances: Iterable[Instance]
) -> dict[int, tuple[str, ...]]:
    """The cities that run each revision, in the order of the spec; cities that are left come last."""
    running = RunningRevisions(workload, revisions)
    found: dict[int, set[str]] = {}
    for instance in instances:
        number = running.of(instance).number
        if number is not None:
            found.setdefault(number, set()).add(joins.city(instance))
    order = {city: i for i, city in enumerate(cities_of(workload))}
    return {
        number: tuple(sorted(cities, key=lambda city: (order.get(city, len(order)), city)))
        for number, cities in found.items()
    }
