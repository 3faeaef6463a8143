"""Resolves the names of a definition: accepts the names that no other definition of its group uses.

Accepted names stay accepted until others replace them. A kind is served under its accepted names.
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
    """The names in use in a group: of resources (plural, singular, short names) and of kinds."""

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
    """The accepted names of a definition, and the conflict that refused others, if any."""

    accepted: CrdNames
    reason: str = ""
    name: str = ""

    @property
    def all_accepted(self) -> bool:
        return not self.reason


def resolve_names(requested: CrdNames, before: CrdNames, in_use: NamesInUse) -> NamingResult:
    """Resolve the requested names. ``in_use`` are the names of all other definitions.

    Of several conflicts the last one is reported, as in Kubernetes.
    """
    accepted: dict[str, object] = {}
    conflict = ("", "")
    for part, used, reason in (
        ("plural", in_use.resources, "PluralConflict"),
        ("singular", in_use.resources, "SingularConflict"),
        ("short_names", in_use.resources, "ShortNamesConflict"),
        ("kind", in_use.kinds, "KindConflict"),
        ("list_kind", in_use.kinds, "ListKindConflict"),
    ):
        wanted, had = getattr(requested, part), getattr(before, part)
        if clash := _clash(wanted, used):
            conflict = (reason, clash)
            wanted = type(wanted)() if _clash(had, used) else had
        accepted[part] = wanted
    return NamingResult(replace(NOTHING, categories=requested.categories, **accepted), *conflict)


def _clash(names: str | Iterable[str], used: set[str]) -> str:
    """The first of the names that is in use; empty if none is."""
    each = (names,) if isinstance(names, str) else names
    return next((name for name in each if name and name in used), "")
