"""The progress of a rollout, city by city.

Start with `rollouts`, which collects the rows and derives the verdict. `city` has the facts of one
city, and `phases` derives its phase from them. `endings` says when a client stops waiting.
"""

from compute.decide.progress.endings import RolloutEnding, RolloutWait, ending
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
    "RolloutEnding",
    "RolloutSnapshot",
    "RolloutVerdict",
    "RolloutWait",
    "ending",
    "observe",
    "verdict",
]
