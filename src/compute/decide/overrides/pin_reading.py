"""Pins in the annotation of a Workload, which users can write: each is checked against its schema."""

from collections.abc import Mapping
from functools import cache

import msgspec

from compute.decide import json_annotations
from compute.decide.overrides.city_pin import CityPin
from kubekit.api import structural
from kubekit.api.schema import schema_of


def read_pin(value: object) -> CityPin | None:
    """The pin that an entry of the annotation contains; None if no server would accept its template.

    Defaults of the schema are filled in, as the server does in a deployment: otherwise the deployment
    would differ from what is wanted after every write.
    """
    if not isinstance(value, dict) or structural.validate(value, schema()):
        return None
    try:
        return msgspec.convert(structural.with_defaults(value, schema()), CityPin)
    except json_annotations.UNREADABLE:
        return None


@cache
def schema() -> structural.Schema:
    """The schema of a pin."""
    return schema_of(CityPin, _undocumented)


def _undocumented(_: type) -> Mapping[str, str]:
    return {}
