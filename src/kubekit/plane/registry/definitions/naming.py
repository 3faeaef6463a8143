"""Which of the names that a definition asks for it gets: those that nobody else in its group has.

Names that were accepted once stay so until others are accepted in their place. A kind is served
under its accepted names.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from kubekit.api.kinds.apiextensions import CrdNames
from kubekit.plane.registry.kinds import Kind

NOTHING: Final = CrdNames()


@dataclass(slots=True)
class NamesInUse:
    """The names that are in use in a group: of resources, which clients mix freely, and of kinds."""

    resources: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)

    def add(self, names: CrdNames) -> None:
        self.resources.update((names.plural, names.singular, *names.short_names))
        self.kinds.update((names.kind, names.list_kind))

    def add_kind(self, kind: Kind) -> None:
        resource = kind.resource
        self.resources.update((resource.plural, kind.singular, *resource.short_names))
        self.kinds.update((resource.kind, kind.list_kind))


@dataclass(frozen=True, slots=True)
class NamingResult:
    """The names that a definition has, and why it has not all that it asks for, if so."""

    accepted: CrdNames
    reason: str = ""
    name: str = ""

    @property
    def all_accepted(self) -> bool:
        return not self.reason


def resolve_names(asked: CrdNames, before: CrdNames, taken: NamesInUse) -> NamingResult:
    """The names after a definition asked for these. ``taken`` are those of all others.

    What is told of several conflicts is the last one, as Kubernetes does.
    """
    found: dict[str, object] = {}
    conflict = ("", "")
    for part, used, reason in (
        ("plural", taken.resources, "PluralConflict"),
        ("singular", taken.resources, "SingularConflict"),
        ("short_names", taken.resources, "ShortNamesConflict"),
        ("kind", taken.kinds, "KindConflict"),
        ("list_kind", taken.kinds, "ListKindConflict"),
    ):
        wanted, had = getattr(asked, part), getattr(before, part)
        if clash := _clash(wanted, used):
            conflict = (reason, clash)
            wanted = type(wanted)() if _clash(had, used) else had
        found[part] = wanted
    return NamingResult(replace(NOTHING, categories=asked.categories, **found), *conflict)


def _clash(names: str | Iterable[str], used: set[str]) -> str:
    """The first of the names that is in use, if one is."""
    each = (names,) if isinstance(names, str) else names
    return next((name for name in each if name and name in used), "")
