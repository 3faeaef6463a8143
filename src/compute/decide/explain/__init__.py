"""Why something does not run, who can mend it, and what to type next.

`cause` finds the one thing that stands in the way, `checklist` and `demand` tell of gates and quota,
`removal` of what holds a deletion up, and `titles` how objects are called; `explanations` puts them
into sentences.
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
