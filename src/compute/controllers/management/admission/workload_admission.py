"""Admission of Workloads, as a webhook (`webhooks`) or in process (`compute.app.admission`).

First `defaults` are set, then `WorkloadAdmission` validates the document that will be stored. The
rules are those of `compute.decide.validation`, which the command line uses too. Checks that need the
project are here: the offered cities, and permissions on networks. It runs in every replica, since a
request may reach any of them.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from compute.api.compute import Workload
from compute.api.networking import LocationBinding, Network
from compute.api.permissions import WATCH, allow
from compute.api.resource_manager import Project
from compute.controllers.management import offered_cities
from compute.decide import joins, validation
from compute.decide.networking.network_use import names_network
from compute.decide.validation import Default, NetworkUse, Review
from kubekit.api import errors, json_pointer, scheme, times
from kubekit.api.errors import Forbidden, Unavailable
from kubekit.api.fields import FieldError, forbidden
from kubekit.api.kinds.authentication import UserInfo
from kubekit.api.kinds.authorization import (
    ResourceAttributes,
    SubjectAccessReview,
    SubjectAccessReviewSpec,
)
from kubekit.api.meta import with_metadata
from kubekit.client.client import Client
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.requests import cluster_name

Document = Mapping[str, Any]

PARENT_NAME: Final = "iam.miloapis.com/parent-name"
_REVIEWED_VERBS: Final = ("create", "update")

PERMISSIONS: Final = (
    *allow("project", ("list",), LocationBinding),
    *allow("project", ("get",), Network),
    *allow("project", ("create",), SubjectAccessReview),
    *allow("core", WATCH, Project),
)


def project_of(user: UserInfo) -> str:
    """The project of the request; empty if it names none."""
    return next(iter(user.extra.get(PARENT_NAME, ())), "")


def defaults(verb: str, new: Document | None, old: Document | None) -> tuple[Default, ...]:
    """The fields to set before a Workload is validated and stored.

    A write that does not change the spec sets none: a controller that adds a finalizer must not
    create a new generation of an old Workload.
    """
    if verb.lower() not in _REVIEWED_VERBS or new is None:
        return ()
    if old is not None and (_is_deleting(old) or old.get("spec") == new.get("spec")):
        return ()
    workload = _read(new)  # an unreadable Workload is refused by the review
    return () if workload is None else validation.defaults(workload)


def completed(document: Document, missing: Iterable[Default]) -> dict[str, Any]:
    """A copy of the document with the defaults in it."""
    copy = deepcopy(dict(document))
    for path, value in missing:
        parent: Any = json_pointer.resolve(copy, path[:-1])
        parent[path[-1]] = value
    return copy


@dataclass(frozen=True)
class WorkloadAdmission:
    """Admits or refuses every write of a Workload in every project."""

    projects: Clusters
    core: Clusters | None = None  # has the Project objects

    async def review(
        self, verb: str, new: Document | None, old: Document | None, user: UserInfo, project: str
    ) -> tuple[str, ...]:
        """The warnings for a Workload that may be written; raises `Invalid` if it may not.

        A write that changes neither spec nor annotations is never refused, nor is a write of a
        deleting Workload: finalizers must be added and removed even if the rules have changed.
        """
        if verb.lower() not in _REVIEWED_VERBS or new is None:
            return ()
        if old is not None and _is_deleting(old):
            return ()
        if old is not None and old.get("spec") == new.get("spec"):
            return await self._review_settings(new, old, user, project)
        cluster = self._project(project)
        if old is None:
            self._refuse_terminating(cluster)
        cities = await offered_cities.live_cities(cluster.client)
        before = None if old is None else _read(old)
        review = validation.review_document(new, cities=cities, old=before)
        _refuse(new, review.errors)
        await _refuse_networks(cluster.client, new, review, before, user)
        return review.warnings

    async def _review_settings(
        self, new: Document, old: Document, user: UserInfo, project: str
    ) -> tuple[str, ...]:
        """Review annotations that change while the spec does not."""
        workload = _read(new)
        same = _metadata(old).get("annotations") == _metadata(new).get("annotations")
        if same or workload is None:
            return ()
        cities = [city for _, city in joins.expected(workload)]
        before = _read(old) or with_metadata(workload, annotations={})
        review = validation.validate(workload, cities=cities, old=before)
        _refuse(new, review.errors)
        if review.networks:
            client = self._project(project).client
            await _refuse_networks(client, new, review, before, user)
        return review.warnings

    def _project(self, name: str) -> Cluster:
        """The project of this name. Without a name there must be exactly one project."""
        projects = self.projects
        if not name and len(projects) == 1:
            return projects.sole()
        if not name:
            raise Forbidden(f"the request names no project: {PARENT_NAME} is missing")
        cluster = projects.find(cluster_name(name.rpartition("/")[2]))
        if cluster is None:
            raise Unavailable(f"the project {name} is not known here yet; try again in a moment")
        return cluster

    def _refuse_terminating(self, cluster: Cluster) -> None:
        """Refuse a new Workload in a project that is deleting, as in a deleting namespace."""
        for core in self.core or ():
            project = core.informers.of(Project).cache.get("", cluster.name)
            since = project.metadata.deletion_timestamp if project else None
            if since is not None:
                raise Forbidden(
                    f"the project {cluster.name} is being deleted since {times.format_time(since)}: "
                    "no workload can be created in it. Create it in another project, or wait until "
                    "this one is gone and create it again"
                )


def _is_deleting(old: Document) -> bool:
    return bool(_metadata(old).get("deletionTimestamp"))


async def _refuse_networks(
    client: Client, new: Document, review: Review, old: Workload | None, user: UserInfo
) -> None:
    """Refuse networks that the user may not use, and new uses of networks that are deleting."""
    _refuse(new, await _denied(client, review.networks, user))
    _refuse(new, await _terminating(client, review.networks, old))


async def _denied(
    client: Client, networks: Iterable[NetworkUse], user: UserInfo
) -> tuple[FieldError, ...]:
    """The networks that the user may not use."""
    return tuple([_refusal(n, user) for n in networks if not await _may_use(client, n, user)])


async def _may_use(client: Client, network: NetworkUse, user: UserInfo) -> bool:
    """Whether the user may use the network, by a SubjectAccessReview with all of the user's info."""
    resource = Network.RESOURCE
    review = SubjectAccessReview(
        spec=SubjectAccessReviewSpec(
            user=user.username,
            groups=user.groups,
            uid=user.uid,
            extra=user.extra,
            resource_attributes=ResourceAttributes(
                verb=network.verb,
                group=resource.group,
                version=resource.version,
                resource=resource.plural,
                namespace=network.namespace,
                name=network.name,
            ),
        )
    )
    return (await client.create(review)).status.allowed


async def _terminating(
    client: Client, networks: Iterable[NetworkUse], old: Workload | None
) -> tuple[FieldError, ...]:
    """The refusals of networks that are deleting, except for those that the Workload names already."""
    new = [
        network
        for network in networks
        if old is None or not names_network(old, (network.namespace, network.name))
    ]
    return tuple(
        [error for network in new if (error := await _refuse_if_deleting(client, network))]
    )


async def _refuse_if_deleting(client: Client, network: NetworkUse) -> FieldError | None:
    existing = await client.find(Network, network.name, network.namespace)
    if existing is None or not existing.deleting:
        return None
    return forbidden(
        network.path,
        f"the network {network.namespace}/{network.name} is being deleted, and nothing new is attached "
        "to it; name another network, or create it again once it is gone",
    )


def _refusal(network: NetworkUse, user: UserInfo) -> FieldError:
    username = user.username or "an anonymous user"
    return forbidden(
        network.path,
        f"{username} may not use the network {network.namespace}/{network.name}; "
        f'ask for the verb "{network.verb}" on it, or name another',
    )


def _refuse(new: Document, wrong: Iterable[FieldError]) -> None:
    faults = tuple(wrong)
    if faults:
        meta = _metadata(new)
        name = meta.get("name") or meta.get("generateName") or ""
        raise errors.invalid(Workload.RESOURCE, str(name), faults)


def _read(document: Document) -> Workload | None:
    try:
        return scheme.decode_as(Workload, document)
    except scheme.DecodeError:
        return None


def _metadata(document: Document) -> Document:
    metadata = document.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}
