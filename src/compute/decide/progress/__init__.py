"""The progress of a rollout, city by city.

`city` holds the facts of one city, `phases` derives its phase from them, and `rollouts` collects the
rows and derives the verdict.
"""

from compute.decide.progress.phases import CityRow, Phase, PhaseTimeouts
from compute.decide.progress.rollouts import (
    Rollout,
    RolloutSnapshot,
    RolloutVerdict,
    observe,
    verdict,
)

__all__ = [
    "CityRow",
    "Phase",
    "PhaseTimeouts",
    "Rollout",
    "RolloutSnapshot",
    "RolloutVerdict",
    "observe",
    "verdict",
]
