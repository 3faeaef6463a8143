"""What can be wrong with a target, a project, its Workloads, and a platform on this machine.

A check is a pure function of facts that were read: each gives results that say what holds, or the cause
and the one command that cures it. `checks` lists them all; `facts` is what they read.
"""

from compute.decide.doctor.checks import Check, CheckStatus, Finding, Fix, Section
from compute.decide.doctor.connection import connection_checks
from compute.decide.doctor.project import project_checks
from compute.decide.doctor.workloads import workload_checks
from compute.decide.doctor.worlds import world_checks

__all__ = [
    "Check",
    "CheckStatus",
    "Finding",
    "Fix",
    "Section",
    "connection_checks",
    "project_checks",
    "workload_checks",
    "world_checks",
]
