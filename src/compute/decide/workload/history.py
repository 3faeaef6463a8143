"""Revisions of a Workload: its former specs, who changed it, and what an undo restores.

They are stored in one ConfigMap per Workload, in the original's format, so that its clients can read
ours: each key is a number, each value a JSON document with the whole spec. ``healthyAt`` and
``note`` are our additions; older clients ignore them. Revisions are only ever added: an undo is a new revision.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from compute.api import annotations, names
from compute.api.compute import Workload, WorkloadSpec
from compute.decide.deployment.template import restamped, template_hash
from compute.decide.workload import revision_note, spec_diff
from kubekit.api import times
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ObjectMeta
from kubekit.api.wire import Wire

KEPT: Final = 20
BYTES_KEPT: Final = 900_000  # of the 1 MiB that one object may have
_ROLLBACK: Final = "rollback to rev #"


class Revision(Wire, frozen=True, kw_only=True):
    """One version of a Workload's spec."""

    rev: int
    timestamp: str = ""
    image: str = ""
    changes: str = ""
    actor: str = ""
    template_hash: str = ""
    spec: str = ""  # JSON text, as the original keeps it
    healthy_at: str = ""  # when every city first served it; empty when that never happened
    note: str = ""  # of the user who made the change


class RevisionStatus(StrEnum):
    """The outcome of a revision."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    FAILED = "failed"
    ROLLED_BACK = "rolled back"


class RevisionEntry(msgspec.Struct, frozen=True):
    """A revision and its outcome."""

    revision: Revision
    status: RevisionStatus


class Undo(msgspec.Struct, frozen=True):
    """The spec that an undo writes, and its changes as text."""

    revision: Revision
    spec: WorkloadSpec
    changes: tuple[str, ...]


class Refusal(msgspec.Struct, frozen=True):
    """Why nothing can be undone."""

    why: str


def revisions(history: ConfigMap | None) -> tuple[Revision, ...]:
    """The revisions, oldest first. An unreadable value is skipped."""
    data = history.data if history else {}
    readable = (_read(key, value) for key, value in data.items())
    return tuple(sorted((r for r in readable if r), key=lambda r: r.rev))


def current(history: ConfigMap | None) -> Revision | None:
    """The active revision: the one the annotation names, else the newest."""
    known = revisions(history)
    named = history.metadata.annotations.get(annotations.CURRENT_REVISION) if history else None
    return next((r for r in known if str(r.rev) == named), known[-1] if known else None)


def entries(history: ConfigMap | None) -> tuple[RevisionEntry, ...]:
    """Every revision with its outcome, newest first, as a listing shows them."""
    known = revisions(history)
    active = current(history)
    undone = {r.rev - 1 for r in known if is_rollback(r)}
    return tuple(RevisionEntry(r, _status(r, active, undone)) for r in reversed(known))


def record(
    history: ConfigMap | None, workload: Workload, actor: str, now: datetime
) -> ConfigMap | None:
    """The history with the Workload's spec as its newest revision; None if it is that already.

    Any change of the spec counts, whatever its author: an edit that is not recorded cannot be undone.
    """
    known = revisions(history)
    last = current(history)
    before = spec_of(last) if last else None
    if before == workload.spec:
        return None
    newest = Revision(
        rev=max((r.rev for r in known), default=0) + 1,
        timestamp=times.format_time(now),
        image=spec_diff.image(workload.spec),
        changes=_changes(known, last, before, workload.spec),
        actor=actor,
        template_hash=template_hash(workload.spec.template),
        spec=msgspec.json.encode(workload.spec).decode(),
        note=revision_note.note_of(workload),
    )
    return _stored(history, workload, {r.rev: r for r in (*known, newest)}, newest.rev)


def is_rollback(revision: Revision) -> bool:
    """Whether the revision restored the template of an earlier one."""
    return revision.changes.startswith(_ROLLBACK)


def mark_healthy(history: ConfigMap, now: datetime) -> ConfigMap | None:
    """The history with its active revision marked healthy; None when it is marked already."""
    active = current(history)
    if active is None or active.healthy_at:
        return None
    marked = msgspec.structs.replace(active, healthy_at=times.format_time(now))
    data = history.data | {str(active.rev): msgspec.json.encode(marked).decode()}
    return msgspec.structs.replace(history, data=data)


def undo(
    history: ConfigMap | None,
    spec: WorkloadSpec,
    *,
    to: int = 0,
    whole: bool = False,
    before: int | None = None,
) -> Undo | Refusal:
    """The write that restores revision ``to``, or, when it is 0, the newest healthy one.

    The newest healthy one is looked for below ``before``, if that is given. One that differs by a
    restart alone is passed over. Only the template is restored unless ``whole``: the undo of a bad
    image must not undo the scaling that was done meanwhile.
    """
    target = _target(history, spec, to=to, whole=whole, before=before)
    if isinstance(target, Refusal):
        return target
    restored = _restored(spec, target, whole=whole)
    if restored is None:
        return Refusal(f"revision {target.rev} cannot be read: its spec is damaged")
    changes = spec_diff.describe(spec, restored)
    if not changes:
        return Refusal(f"the workload is at revision {target.rev} already")
    return Undo(target, restored, changes)


def spec_of(revision: Revision) -> WorkloadSpec | None:
    """The spec of a revision; None when its text is damaged."""
    try:
        return msgspec.json.decode(revision.spec, type=WorkloadSpec)
    except msgspec.MsgspecError:
        return None


def _read(key: str, value: str) -> Revision | None:
    try:
        revision = msgspec.json.decode(value, type=Revision)
    except msgspec.MsgspecError:
        return None
    return revision if key == str(revision.rev) else None


def _status(revision: Revision, active: Revision | None, undone: set[int]) -> RevisionStatus:
    if active is not None and revision.rev == active.rev:
        return RevisionStatus.ACTIVE
    if revision.rev in undone:
        return RevisionStatus.ROLLED_BACK
    return RevisionStatus.SUPERSEDED if revision.healthy_at else RevisionStatus.FAILED


def _changes(
    known: tuple[Revision, ...],
    last: Revision | None,
    before: WorkloadSpec | None,
    after: WorkloadSpec,
) -> str:
    if last is None:
        return "initial deploy"
    origin = _origin(known, last, template_hash(after.template))
    if before is None:
        changes: tuple[str, ...] = ("earlier spec unreadable",)
    elif origin is None:
        changes = spec_diff.describe(before, after)
    else:  # the rollback describes all of the template
        changes = spec_diff.describe(
            before, msgspec.structs.replace(after, template=before.template)
        )
    return "; ".join((*([f"{_ROLLBACK}{origin.rev}"] if origin else []), *changes))


def _origin(known: tuple[Revision, ...], last: Revision, template: str) -> Revision | None:
    """The newest revision whose template is restored; None when this one is new, or the last."""
    if template == last.template_hash:
        return None
    return next((r for r in reversed(known) if r.template_hash == template), None)


def _stored(
    history: ConfigMap | None, workload: Workload, known: Mapping[int, Revision], active: int
) -> ConfigMap:
    """The ConfigMap with as many of the newest revisions as it may hold; foreign keys are kept."""
    base = history or _empty(workload)
    own = {str(r.rev) for r in revisions(history)}
    foreign = {key: value for key, value in base.data.items() if key not in own}
    kept: dict[str, bytes] = {}
    for rev in sorted(known, reverse=True)[:KEPT]:
        text = msgspec.json.encode(known[rev])
        if kept and sum(map(len, kept.values())) + len(text) > BYTES_KEPT:
            break
        kept[str(rev)] = text
    data = foreign | {key: kept[key].decode() for key in reversed(kept)}
    meta = msgspec.structs.replace(
        base.metadata,
        annotations=base.metadata.annotations | {annotations.CURRENT_REVISION: str(active)},
    )
    return msgspec.structs.replace(base, metadata=meta, data=data)


def _empty(workload: Workload) -> ConfigMap:
    return ConfigMap(
        metadata=ObjectMeta(
            name=names.history(workload.metadata.name),
            namespace=workload.metadata.namespace,
            owner_references=(workload.reference(),),
        )
    )


def _target(
    history: ConfigMap | None, spec: WorkloadSpec, *, to: int, whole: bool, before: int | None
) -> Revision | Refusal:
    known = {r.rev: r for r in revisions(history)}
    active = current(history)
    if active is None:
        return Refusal("the workload has no history yet")
    if to:
        return known.get(to) or Refusal(f"there is no revision {to}; known: {_listed(known)}")
    # The active revision counts too: a change that is not recorded yet is undone by going back to it.
    limit = active.rev + 1 if before is None else before
    earlier = [known[rev] for rev in sorted(known, reverse=True) if rev < limit]
    differing = (r for r in earlier if r.healthy_at and _differs(spec, r, whole=whole))
    return next(differing, None) or _none_of(earlier, active)


def _none_of(earlier: list[Revision], active: Revision) -> Refusal:
    """Why an undo without a number goes back to none of these."""
    if earlier == [active]:
        return Refusal(f"revision {active.rev} is the first: there is nothing before it")
    if any(r.healthy_at for r in earlier if r.rev < active.rev):
        return Refusal("every earlier healthy revision has the template that it has now")
    return Refusal("no earlier revision ever became healthy; name one with --to-revision")


def _differs(spec: WorkloadSpec, target: Revision, *, whole: bool) -> bool:
    """Whether going back to the revision changes more than the restart stamp."""
    restored = _restored(spec, target, whole=whole)
    return restored is not None and _unstamped(restored) != _unstamped(spec)


def _unstamped(spec: WorkloadSpec) -> WorkloadSpec:
    return msgspec.structs.replace(spec, template=restamped(spec.template, None))


def _restored(spec: WorkloadSpec, target: Revision, *, whole: bool) -> WorkloadSpec | None:
    before = spec_of(target)
    if before is None or whole:
        return before
    return msgspec.structs.replace(spec, template=before.template)


def _listed(known: Mapping[int, Revision]) -> str:
    return ", ".join(str(rev) for rev in sorted(known))
