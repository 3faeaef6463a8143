"""Budgets: what a consumer may use, which claims are granted, and how claims are answered.

`limits` adds up what is granted, `choose` selects the claims to serve, `faults` are the claims that
may not be created at all, and `granted`, `denied` and `refused` are the answers. A `Ledger` records
promises, so that two managers that decide at once agree.
"""

from compute.decide.budget.answers import denied, granted, refused, reopened
from compute.decide.budget.claim_queues import (
    CONSUMER,
    ClaimQueue,
    Need,
    QueuePosition,
    choose,
    fits,
    left,
    limits,
    need_of,
    shares,
)
from compute.decide.budget.ledger import Ledger, Reservation
from compute.decide.budget.rules import active, faults, grant_faults, registration_faults

__all__ = [
    "CONSUMER",
    "ClaimQueue",
    "Ledger",
    "Need",
    "QueuePosition",
    "Reservation",
    "active",
    "choose",
    "denied",
    "faults",
    "fits",
    "grant_faults",
    "granted",
    "left",
    "limits",
    "need_of",
    "refused",
    "registration_faults",
    "reopened",
    "shares",
]
