"""Refuses deletions that would orphan what nothing manages, on every plane of a world."""

from compute.app.homes import Home
from compute.client.options import DeleteOptions
from compute.decide.orphan_deletion import orphan_refusal
from compute.plane.plane import Plane
from compute.plane.registry.admission import Attempt


class OrphanAdmission:
    """A validating admission plugin on each plane."""

    def opened(self, home: Home, plane: Plane) -> None:
        plane.registry.admission.validating.append(_validate)

    def closing(self, home: Home, plane: Plane) -> None:
        return


def _validate(attempt: Attempt) -> None:
    if attempt.old is None or not isinstance(attempt.options, DeleteOptions):
        return
    refusal = orphan_refusal(
        attempt.kind.resource, attempt.old["metadata"], attempt.options.propagation
    )
    if refusal is not None:
        raise refusal
