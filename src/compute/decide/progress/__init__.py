"""How far a rollout is, place by place.

`city` holds the facts of one place, `phases` judges them, and `rollouts` puts the rows together and
says what they amount to.
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
