"""Why something does not run, who can fix it, and which command is next.

Start with `explanations`, which writes the sentences. `cause` finds the one cause, `checklist` lists
the gates, and `titles` names objects.
"""

from compute.decide.explain.checklist import GateStatus
from compute.decide.explain.explanations import (
    Explanation,
    explain_deployment,
    explain_instance,
    explain_reason,
    explain_workload,
)

__all__ = [
    "Explanation",
    "GateStatus",
    "explain_deployment",
    "explain_instance",
    "explain_reason",
    "explain_workload",
]
