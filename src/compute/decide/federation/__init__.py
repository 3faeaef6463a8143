"""Federation: what is propagated between a project, the hub and a cell.

Down: a namespace and a deployment (`hub`), propagated by one policy per city (`policies`). Up: the
deployment's status (`statuses`), and every Instance, from cell to hub (`copies`) and from hub to
project (`projections`). Objects that lost their owner are found by `orphans`, those of a deployment that
moved to another cell by `moves`.
"""

from compute.decide.federation.copies import Hub, Unlinked, WriteBack, hub_instance, write_back
from compute.decide.federation.hub import (
    DeleteHub,
    Finalization,
    ProjectNamespace,
    Refused,
    ReleaseFinalizer,
    WaitFor,
    deployment_due,
    finalization,
    hub_deployment,
    hub_namespace,
    identity,
    is_copy,
    namespace_due,
    prepared,
)
from compute.decide.federation.moves import HANDOVER, MoveStep, chosen_cell, is_of_other, move_step
from compute.decide.federation.orphans import orphaned_copies, orphaned_deployments
from compute.decide.federation.policies import is_unused, policies_due, policy, policy_differs
from compute.decide.federation.projections import Projected, Waiting, project, projection
from compute.decide.federation.statuses import (
    CellUnreachable,
    DeploymentProblem,
    DispatchingSuspended,
    RefusedByCell,
    Unplaced,
    project_status,
    unreachable_cell,
)

__all__ = [
    "HANDOVER",
    "CellUnreachable",
    "DeleteHub",
    "DeploymentProblem",
    "DispatchingSuspended",
    "Finalization",
    "Hub",
    "MoveStep",
    "ProjectNamespace",
    "Projected",
    "Refused",
    "RefusedByCell",
    "ReleaseFinalizer",
    "Unlinked",
    "Unplaced",
    "WaitFor",
    "Waiting",
    "WriteBack",
    "chosen_cell",
    "deployment_due",
    "finalization",
    "hub_deployment",
    "hub_instance",
    "hub_namespace",
    "identity",
    "is_copy",
    "is_of_other",
    "is_unused",
    "move_step",
    "namespace_due",
    "orphaned_copies",
    "orphaned_deployments",
    "policies_due",
    "policy",
    "policy_differs",
    "prepared",
    "project",
    "project_status",
    "projection",
    "unreachable_cell",
    "write_back",
]
