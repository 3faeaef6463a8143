"""The note of a user on a change, kept on the Workload until the history has it.

It is bound to the generation that the change makes. So it never labels a later change, whichever of
the two the history records first.
"""

from typing import Final

import msgspec

from compute.api import annotations
from compute.api.compute import Workload
from compute.decide import json_annotations
from kubekit.api.meta import with_metadata

LONGEST: Final = 300


class _Note(msgspec.Struct, frozen=True):
    generation: int
    note: str


def noted(existing: Workload | None, wanted: Workload, note: str) -> Workload:
    """The wanted Workload with a note on this change; without one if the spec stays as it is."""
    if existing is not None and existing.spec == wanted.spec:
        return wanted
    generation = existing.metadata.generation + 1 if existing else 1
    text = json_annotations.write({"generation": generation, "note": note})
    known = wanted.metadata.annotations | {annotations.REVISION_NOTE: text}
    return with_metadata(wanted, annotations=known)


def note_of(workload: Workload) -> str:
    """The note on the present generation; empty if there is none."""
    text = workload.metadata.annotations.get(annotations.REVISION_NOTE, "")
    try:
        found = msgspec.json.decode(text, type=_Note)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ""
    return found.note[:LONGEST] if found.generation == workload.metadata.generation else ""
