"""Generations of one deployment on several planes, each of which counts its own.

A report states the observed generation as its own plane counts. On another plane that number would
mean nothing: a client that waits there for its change to be observed would wait indefinitely, or not
at all. So it is translated at each step, and unchanged while the report is of an older state.
"""

import msgspec

from compute.api.compute import WorkloadDeployment, WorkloadDeploymentStatus


def translated(
    report: WorkloadDeploymentStatus, to: WorkloadDeployment, *, current: bool
) -> WorkloadDeploymentStatus:
    """The report as ``to`` should have it; ``current`` means that it is of its present spec."""
    known = to.metadata.generation if current else to.status.observed_generation
    conditions = tuple(
        msgspec.structs.replace(condition, observed_generation=known)
        for condition in report.conditions
    )
    return msgspec.structs.replace(report, observed_generation=known, conditions=conditions)


def is_reported(deployment: WorkloadDeployment) -> bool:
    """Whether its status is of its present spec."""
    return deployment.status.observed_generation == deployment.metadata.generation
