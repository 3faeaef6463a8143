"""What a quota claim asks for and what it was told, in numbers."""

from typing import Final

from compute.api.quota import RequestAllocation, ResourceClaim
from compute.decide.quota.claims import MEMORY, VCPUS

_UNITS: Final = {VCPUS: "millicores", MEMORY: "MiB"}


def demand(claim: ResourceClaim) -> str:
    """The claim in sentences: everything it needs, and each part that was not granted."""
    needs = "; ".join(_amount(r.amount, r.resource_type) for r in claim.spec.requests)
    answers = [_answer(a) for a in claim.status.allocations if a.status != "Granted"]
    return " ".join([f"It needs {needs}.", *answers])


def _amount(amount: int, resource: str) -> str:
    unit = _UNITS.get(resource)
    return f"{amount} {unit} of {resource}" if unit else f"{amount} of {resource}"


def _answer(allocation: RequestAllocation) -> str:
    said = allocation.message or allocation.reason
    answer = f"{allocation.resource_type} is {allocation.status.lower()}"
    return f"{answer}: {said.rstrip('.')}." if said else f"{answer}."
