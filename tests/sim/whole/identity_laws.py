"""Laws of identity: S6, S8, S11. They apply to every object of every plane."""

from collections.abc import Iterator
from typing import Any

import msgspec

from compute.api import labels, names
from compute.api.quota import ResourceClaim
from compute.app.planes import PlaneRef
from compute.decide.federation import identity
from kubekit.api.kinds.core import Namespace
from tests.sim.whole.commits import Commit, Laws
from tests.sim.whole.observed_state import ObservedState


class Identity:
    """Records the uid and the project of every object."""

    def __init__(self, observed: ObservedState) -> None:
        self._observed = observed
        self._revisions: dict[PlaneRef, int] = {}
        self._written: dict[PlaneRef, dict[int, str]] = {}  # the uid that each revision wrote
        self._latest: dict[tuple[PlaneRef, str], int] = {}  # the revision of each object, by uid
        self._uids: dict[str, str] = {}  # whose each one is, in words
        self._projects: dict[str, str] = {}  # the project that an object is in, by uid
        self.everywhere = (
            self.s6_versions_rise,
            self.s6_uids_are_never_reused,
            self.s6_generation_rises_exactly_with_the_spec,
            self.s8_nothing_written_is_lost,
            self.s11_nothing_names_another_project,
            self.s11_owners_are_of_the_same_plane,
        )
        self.laws: Laws = {
            ("hub", "Namespace"): (self.s11_namespaces_map_one_to_one,),
            ("cell", "Namespace"): (self.s11_namespaces_map_one_to_one,),
            ("project", "ResourceClaim"): (self.s11_a_claim_is_its_own_projects,),
        }

    def note(self, commit: Commit[Any]) -> None:
        self._revisions[commit.ref] = commit.revision
        self._written.setdefault(commit.ref, {})[commit.revision] = commit.uid
        self._uids[commit.uid] = commit.where
        if commit.ref.role == "project":
            self._projects[commit.uid] = commit.ref.name
        if commit.gone:
            self._latest.pop((commit.ref, commit.uid), None)
        else:
            self._latest[commit.ref, commit.uid] = commit.revision

    def drop(self, ref: PlaneRef) -> None:
        """Forget a plane that is gone: the versions of the next one start again."""
        self._revisions.pop(ref, None)
        self._written.pop(ref, None)
        self._latest = {at: seen for at, seen in self._latest.items() if at[0] != ref}

    def s6_versions_rise(self, commit: Commit[Any]) -> str:
        """Every commit of a plane has a higher resourceVersion than the one before."""
        before = self._revisions.get(commit.ref, 0)
        if commit.revision <= before:
            return f"version {commit.revision} came after {before}"
        if commit.head.metadata.resource_version != str(commit.revision):
            return f"it says version {commit.head.metadata.resource_version}, not {commit.revision}"
        return ""

    def s6_generation_rises_exactly_with_the_spec(self, commit: Commit[Any]) -> str:
        """A generation rises by one when the spec changes or the object is to go, else it stays."""
        old, new = commit.old_head, commit.head
        if commit.gone or old is None or not new.metadata.generation:
            return ""
        changed = _differs(old.spec, new.spec) or new.deleting != old.deleting
        expected = old.metadata.generation + changed
        if new.metadata.generation == expected:
            return ""
        return f"its generation went from {old.metadata.generation} to {new.metadata.generation}"

    def s6_uids_are_never_reused(self, commit: Commit[Any]) -> str:
        """A uid stands for one object, at one path, permanently."""
        known = self._uids.get(commit.uid)
        if known is not None and known != commit.where:
            return f"it has the uid of {known}"
        return f"it came back with its old uid {commit.uid}" if known and commit.born else ""

    def s8_nothing_written_is_lost(self, commit: Commit[Any]) -> str:
        """A commit follows upon the one before it of the same object, and none is passed over."""
        before = self._latest.get((commit.ref, commit.uid), 0)
        if before and commit.previous != before:
            return f"it replaces version {commit.previous}, and {before} was written since"
        return ""

    def acknowledged(self, ref: PlaneRef, uid: str, revision: int) -> str:
        """What is wrong with an acknowledgement of a write; empty if nothing."""
        written = self._written.get(ref, {}).get(revision)
        return "" if written == uid else f"{ref.name} acknowledged {revision} of {uid} in vain"

    def s11_nothing_names_another_project(self, commit: Commit[Any]) -> str:
        """No label, owner or reference of a project's object is another project's."""
        project = self._project(commit)
        if project is None:
            return ""
        meta = commit.head.metadata
        for value in (*meta.labels.values(), *(owner.uid for owner in meta.owner_references)):
            other = self._projects.get(value, project)
            if other != project:
                return f"it is of {project}, and names {value} of {other}"
        upstream = meta.labels.get(labels.UPSTREAM_CLUSTER)
        if upstream is not None and names.cluster_key(names.decode_cluster(upstream)) != project:
            return f"it is of {project}, and names {upstream}"
        return ""

    def s11_owners_are_of_the_same_plane(self, commit: Commit[Any]) -> str:
        """An owner is in the plane of what it owns: its deletion would not be observed elsewhere."""
        for owner in commit.head.metadata.owner_references:
            known = self._uids.get(owner.uid, "")
            if known and not known.startswith(f"{commit.ref.name}: {owner.kind} "):
                return f"its owner {owner.kind} {owner.name} is {known}"
        return ""

    def s11_namespaces_map_one_to_one(self, commit: Commit[Namespace]) -> str:
        """A namespace of hub and cells stands for one namespace of one project, permanently."""
        origin, hub_namespace = identity(commit.obj), commit.obj.metadata.name
        uid = names.hub_namespace_uid(hub_namespace)
        if origin is None or uid is None:
            return ""
        known = self._observed.whose(hub_namespace)
        if known is not None and known != origin:
            return f"it stood for {known}, and now for {origin}"
        project = self._projects.get(uid, names.cluster_key(origin.project))
        if project != names.cluster_key(origin.project):
            return (
                f"it stands for a namespace of {origin.project}, and is named by one of {project}"
            )
        return ""

    def s11_a_claim_is_its_own_projects(self, commit: Commit[ResourceClaim]) -> str:
        """A claim is made on the budget of its project, for an Instance of that project."""
        claim, project = commit.obj, commit.ref.name
        consumer = claim.spec.consumer_ref
        if consumer is not None and consumer.name != project:
            return f"it is made on the budget of {consumer.name}"
        hub_namespace = claim.metadata.labels.get(labels.INSTANCE_NAMESPACE, "")
        ref = self._observed.project_of(hub_namespace)
        return f"it is for an Instance of {ref.name}" if ref and ref.name != project else ""

    def _project(self, commit: Commit[Any]) -> str | None:
        if commit.ref.role == "project":
            return commit.ref.name
        if commit.ref.role == "core":
            return None
        ref = self._observed.project_of(commit.key[0])
        return None if ref is None else ref.name


def _differs(one: msgspec.Raw, other: msgspec.Raw) -> bool:
    """Whether two documents differ. Different bytes may encode equal documents."""
    if bytes(one) == bytes(other):
        return False
    return list(_read(one)) != list(_read(other))


def _read(raw: msgspec.Raw) -> Iterator[Any]:
    if bytes(raw):
        yield msgspec.json.decode(raw)
