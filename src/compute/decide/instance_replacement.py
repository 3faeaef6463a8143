"""How far single Instances are that a user asked to replace, for a client that waits for them.

The request is a stamp. An Instance that has recorded it is the new one; the one before it does not count,
whatever its state, since it is on its way out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from compute.api import annotations
from compute.api.compute import Instance
from compute.api.reasons import describe
from compute.decide import joins
from compute.decide.instance_state import InstanceStanding, InstanceState, standing
from compute.decide.progress import PhaseTimeouts, RolloutSnapshot, RolloutVerdict

_TIMEOUTS: Final = PhaseTimeouts()
_ORDER: Final = tuple(RolloutVerdict)


@dataclass(frozen=True, slots=True)
class Replacement:
    """One Instance that is being replaced.

    The standing is that of the new one. While there is only the old one, or none, it is None, unless
    the cell is unreachable.
    """

    name: str
    standing: InstanceStanding | None

    @property
    def text(self) -> str:
        """What is happening, in a word or two."""
        return "waiting for the new instance" if self.standing is None else self.standing.text

    @property
    def is_done(self) -> bool:
        return self.standing is not None and self.standing.state is InstanceState.AVAILABLE


def replacements(snapshot: RolloutSnapshot, stamp_of: Mapping[str, str]) -> tuple[Replacement, ...]:
    """The Instances with these requests, as they are in a snapshot."""
    instances = {instance.metadata.name: instance for instance in snapshot.instances}
    return tuple(
        Replacement(name, _standing(instances.get(name), stamp, snapshot))
        for name, stamp in stamp_of.items()
    )


def replacement_verdict(
    found: Iterable[Replacement], snapshot: RolloutSnapshot, now: datetime
) -> RolloutVerdict:
    """The verdict on all of them: that of the worst, unless the snapshot is too old to tell."""
    verdict = min((_verdict(each, now) for each in found), key=_ORDER.index)
    is_final = verdict in {RolloutVerdict.DONE, RolloutVerdict.FAILED}
    lost = now - snapshot.at > _TIMEOUTS.contact
    return RolloutVerdict.UNKNOWN if lost and not is_final else verdict


def _standing(
    instance: Instance | None, stamp: str, snapshot: RolloutSnapshot
) -> InstanceStanding | None:
    if instance is None:
        return None
    owner = joins.deployment_name(instance)
    deployment = next((d for d in snapshot.deployments if d.metadata.name == owner), None)
    known = standing(instance, deployment, now=snapshot.at)
    is_new = instance.metadata.annotations.get(annotations.REPLACED_AT) == stamp
    return known if is_new or known.state is InstanceState.UNREACHABLE else None


def _verdict(of: Replacement, now: datetime) -> RolloutVerdict:
    known = of.standing
    if known is None:
        return RolloutVerdict.PROGRESSING
    if known.state is InstanceState.AVAILABLE:
        return RolloutVerdict.DONE
    if known.state is InstanceState.UNREACHABLE:
        return RolloutVerdict.UNKNOWN
    if known.state is InstanceState.FAILED and now - (known.since or now) >= _TIMEOUTS.failure:
        return RolloutVerdict.FAILED
    reason = describe(known.reason)
    needs_action = reason is not None and reason.needs_action
    return RolloutVerdict.BLOCKED if needs_action else RolloutVerdict.PROGRESSING
