"""Pins: an undo in single cities."""

from collections.abc import Mapping

from compute.api import annotations
from compute.api.compute import Workload
from compute.api.instance_spec import InstanceTemplate
from compute.decide.deployment.template import unstamped_hash
from compute.decide.overrides.annotated import cities_of, noted, text_of
from compute.decide.overrides.city_pin import CityPin
from compute.decide.overrides.city_templates import CityTemplates

RevisionTemplate = tuple[int, InstanceTemplate]
"""The number of a revision, and its template."""


def pinned(workload: Workload, templates: Mapping[str, RevisionTemplate]) -> Workload:
    """The Workload with each of these cities pinned to the template of a revision.

    A city that is given the template which the Workload has is not pinned any more. Pins of other
    cities stay while they hold.
    """
    present, own = CityTemplates(workload), unstamped_hash(workload.spec.template)
    pins: dict[str, CityPin] = {}
    for city in cities_of(workload):
        pin = present.pin(city)
        if city in templates:
            revision, template = templates[city]
            pin = CityPin(revision=revision, template=template, instead=own)
        if pin is not None and unstamped_hash(pin.template) != own:
            pins[city] = pin
    return noted(workload, {annotations.CITY_TEMPLATES: text_of(pins)})
