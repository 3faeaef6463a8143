"""Files that cannot be mounted: a ConfigMap, a Secret or a key that does not exist.

A kubelet reports this in events only: the Pod itself shows nothing but containers that are not
created yet. It tries again every two minutes, and repeats its event every five, so older events are
about the past.
"""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from compute.api.reasons import Reason
from compute.decide.provider_reports import ConditionValue
from kubekit.api.kinds.events import CoreEvent
from kubekit.api.kinds.pods import Pod, PodVolume

_FAILED: Final = "FailedMount"
_PASSED: Final = frozenset({"Created", "Pulled", "Pulling", "Started"})  # come after all mounts
_RECENT: Final = timedelta(minutes=6)
_FIRST_CHECK: Final = timedelta(seconds=10)
_VOLUME: Final = re.compile(r'MountVolume\.SetUp failed for volume "([^"]+)" : (.*)', re.DOTALL)


def has_files(pod: Pod) -> bool:
    """Whether the Pod mounts ConfigMaps or Secrets."""
    return any(_source(volume) for volume in pod.spec.volumes)


def check_in(pod: Pod, now: datetime) -> timedelta:
    """How long until the events are worth reading; zero or less if they are now."""
    return (pod.status.start_time or now) + _FIRST_CHECK - now


def next_check(pod: Pod, now: datetime) -> timedelta:
    """How long until they are read again: the pauses double, since a large image takes its time."""
    return max(_FIRST_CHECK, now - (pod.status.start_time or now))


def failure(pod: Pod, events: Iterable[CoreEvent], now: datetime) -> ConditionValue | None:
    """The condition of a Pod whose files cannot be mounted; None if the events report none."""
    for event in sorted(events, key=lambda event: _time(event, now), reverse=True):
        if event.reason in _PASSED or now - _time(event, now) >= _RECENT:
            return None
        found = _VOLUME.match(event.message) if event.reason == _FAILED else None
        source = _named(pod, found[1]) if found else ""
        if found and source:
            why = f"The volume {found[1]} ({source}) cannot be mounted: {found[2].strip()}"
            return ConditionValue("False", Reason.CONFIGURATION_ERROR, why)
    return None


def _named(pod: Pod, name: str) -> str:
    return next((_source(volume) for volume in pod.spec.volumes if volume.name == name), "")


def _source(volume: PodVolume) -> str:
    """The object behind a volume, by kind and name."""
    if volume.config_map is not None:
        return f"ConfigMap {volume.config_map.name}"
    return "" if volume.secret is None else f"Secret {volume.secret.secret_name}"


def _time(event: CoreEvent, now: datetime) -> datetime:
    """When it last happened."""
    return event.last_timestamp or event.metadata.creation_timestamp or now
