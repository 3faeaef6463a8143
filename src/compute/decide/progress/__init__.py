"""How far a rollout is, place by place.

`city` holds the facts of one place, `phases` judges them, and `rollouts` puts the rows together and
says what they amount to.
"""

from compute.decide.progress.phases import Patience, Phase, Row
from compute.decide.progress.rollouts import Rollout, Sighting, Verdict, observe, verdict

__all__ = [
    "Patience",
    "Phase",
    "Rollout",
    "Row",
    "Sighting",
    "Verdict",
    "observe",
    "verdict",
]
