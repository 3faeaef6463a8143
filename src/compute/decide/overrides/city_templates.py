"""The template of each city of a Workload. Everything that compares templates starts here.

Usually it is that of the spec. A *restart* of one city is a later restart stamp in that city's
template alone. A *pin* is an earlier template that an undo restored in that city. It holds while the
template of the Workload stays as it was at the undo, restarts aside: the next change is for every
city again.
"""

from functools import cached_property

from compute.api import annotations
from compute.api.compute import Workload
from compute.api.instance_spec import InstanceTemplate
from compute.decide import json_annotations
from compute.decide.deployment.template import (
    restamped,
    restart_stamp,
    template_hash,
    unstamped_hash,
)
from compute.decide.overrides import stamps
from compute.decide.overrides.city_pin import CityPin


class CityTemplates:
    """The templates of the cities of one Workload. Each pin is read once."""

    def __init__(self, workload: Workload) -> None:
        known = workload.metadata.annotations
        self._own = workload.spec.template
        self._restarts = json_annotations.texts(known, annotations.RESTARTED_CITIES)
        self._pins = json_annotations.entries(known, annotations.CITY_TEMPLATES)
        self._read: dict[str, CityPin | None] = {}

    def of(self, city: str) -> InstanceTemplate:
        """The template of a city; that of the Workload itself if nothing is set for the city."""
        pin = self.pin(city)
        template = pin.template if pin else self._own
        present = restart_stamp(template)
        stamp = stamps.latest(present, restart_stamp(self._own), self._restarts.get(city, ""))
        return template if stamp in {"", present} else restamped(template, stamp)

    def hash_of(self, city: str) -> str:
        """The hash of the template of a city."""
        template = self.of(city)
        return self._own_hash if template is self._own else template_hash(template)

    def pin(self, city: str) -> CityPin | None:
        """The pin that holds in a city, if any. One that is equal, restarts aside, pins nothing."""
        if city not in self._pins:
            return None
        if city not in self._read:
            # Few Workloads have pins, and those that have none need no schema.
            from compute.decide.overrides.pin_reading import read_pin  # noqa: PLC0415

            pin = read_pin(self._pins[city])
            self._read[city] = pin if pin and self._holds(pin) else None
        return self._read[city]

    def is_pinned(self, city: str) -> bool:
        """Whether a city runs another template than the others, restarts aside."""
        return self.pin(city) is not None

    def _holds(self, pin: CityPin) -> bool:
        return pin.instead == self._hash != unstamped_hash(pin.template)

    @cached_property
    def _own_hash(self) -> str:
        return template_hash(self._own)

    @cached_property
    def _hash(self) -> str:
        return unstamped_hash(self._own)


def template_for(workload: Workload, city: str) -> InstanceTemplate:
    """The template of a city. For several cities use `CityTemplates`."""
    return CityTemplates(workload).of(city)
