"""Admission of claims in a project's plane."""

from collections.abc import Mapping

from compute.api.quota import ResourceClaim, ResourceRegistration
from compute.decide import budget
from kubekit.api.errors import Unavailable, invalid
from kubekit.api.fields import FieldError, forbidden
from kubekit.runtime.clusters import Cluster, Clusters


def admit_claim(
    claim: ResourceClaim,
    project: str,
    registered: Mapping[str, ResourceRegistration],
    old: ResourceClaim | None = None,
) -> None:
    """Raise `Invalid`, naming each field, if the claim may not be created, or changed like this.

    The requests of a claim cannot be changed: they may have been granted.
    """
    errors: list[FieldError] = []
    if old is None:
        errors += budget.faults(claim, project, registered)
    elif claim.spec != old.spec:
        errors.append(forbidden("spec", "cannot be changed; delete the claim and make another"))
    if errors:
        raise invalid(ResourceClaim.RESOURCE, claim.metadata.name, errors)


class ClaimAdmission:
    """Admits claims by the current registrations of the core plane.

    Their watch starts when the core plane is engaged. If it started with the first claim, that claim
    would be refused.
    """

    def __init__(self, core: Clusters) -> None:
        self._core = core
        core.join(self)

    def engage(self, cluster: Cluster) -> None:
        cluster.informers.of(ResourceRegistration)

    def disengage(self, cluster: Cluster) -> None:
        return

    def review(self, claim: ResourceClaim, project: str, old: ResourceClaim | None = None) -> None:
        """Raise `Invalid` if the claim may not be created or changed. This reads only the cache."""
        registrations = self._core.sole().informers.of(ResourceRegistration)
        if not registrations.synced:
            raise Unavailable("it is not known yet what can be claimed; try again in a moment")
        admit_claim(claim, project, budget.active(registrations.cache.list()), old)
