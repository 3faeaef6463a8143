"""Restarts: of a Workload, by a stamp in its template, or of some cities, by an annotation."""

from collections.abc import Collection
from datetime import datetime

from compute.api import annotations
from compute.api.compute import Workload
from compute.decide import json_annotations
from compute.decide.deployment.template import restamped, restart_stamp
from compute.decide.overrides import stamps
from compute.decide.overrides.annotated import cities_of, noted, text_of
from compute.decide.overrides.city_templates import CityTemplates
from kubekit.api.meta import with_spec


def restarted(workload: Workload, cities: Collection[str], now: datetime) -> Workload:
    """The Workload with these cities restarted; with all of them if none is named.

    The stamp is later than any that these cities have, so that it is a restart for each of them. The
    stamp of the whole Workload replaces those of the cities.
    """
    templates, chosen = CityTemplates(workload), cities or cities_of(workload)
    present = (restart_stamp(templates.of(city)) for city in chosen)
    stamp = stamps.following(now, restart_stamp(workload.spec.template), *present)
    if not cities:
        template = restamped(workload.spec.template, stamp)
        return noted(with_spec(workload, template=template), {annotations.RESTARTED_CITIES: None})
    known = stamps_of(workload) | dict.fromkeys(cities, stamp)
    kept = {city: known[city] for city in cities_of(workload) if city in known}
    return noted(workload, {annotations.RESTARTED_CITIES: text_of(kept)})


def stamps_of(workload: Workload) -> dict[str, str]:
    """The restart stamps of cities that can be read."""
    known = json_annotations.texts(workload.metadata.annotations, annotations.RESTARTED_CITIES)
    return {city: stamp for city, stamp in known.items() if stamps.is_stamp(stamp)}
