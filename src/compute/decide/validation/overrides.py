"""Annotations of a Workload for single cities and Instances.

Controllers ignore what they cannot read, so a wrong value would do nothing, without a report. It is
therefore refused when it is written. An unchanged value is not: it may be older than a rule.
"""

from collections.abc import Callable, Iterator
from typing import Final

from msgspec.structs import replace

from compute.api import annotations
from compute.api.compute import Workload
from compute.api.instance_spec import InstanceTemplate
from compute.decide import json_annotations
from compute.decide.overrides import (
    CityTemplates,
    city_pauses,
    pin_reading,
    replaced_instances,
)
from compute.decide.overrides.annotated import cities_of
from compute.decide.overrides.stamps import is_stamp
from compute.decide.validation.grammar import nearest
from compute.decide.validation.template import check_template
from kubekit.api import structural
from kubekit.api.fields import FieldError, Path, invalid
from kubekit.api.meta import ObjectMeta
from kubekit.api.selectors import label_syntax

_CITIES: Final = 'must be city codes with commas between them, such as "DFW,LHR"'
_TIME: Final = "must be a time in RFC 3339, such as 2026-06-01T12:00:00Z"
_HIDDEN: Final = "(not shown)"  # a template may contain secrets
_BY_CITY: Final = (annotations.RESTARTED_CITIES, annotations.CITY_TEMPLATES)
_EXAMPLES: Final = {
    annotations.RESTARTED_CITIES: '{"DFW":"2026-06-01T12:00:00Z"}',
    annotations.REPLACED_INSTANCES: '{"web-home-dfw-0":"2026-06-01T12:00:00Z"}',
    annotations.CITY_TEMPLATES: '{"DFW":{"revision":3,"template":{...},"instead":"HASH"}}',
}


def check_overrides(path: Path, meta: ObjectMeta, old: ObjectMeta | None) -> Iterator[FieldError]:
    """The errors of annotations that differ from those of ``old``."""
    before = old.annotations if old else {}
    for key, check in _CHECKS.items():
        value = meta.annotations.get(key)
        if value is not None and value != before.get(key):
            yield from check(path.child("annotations").key(key), key, value)


def override_warnings(path: Path, workload: Workload) -> Iterator[str]:
    """Entries without effect: of cities and Instances that the spec does not have, and old pins."""
    at, cities, known = (
        path.child("annotations"),
        cities_of(workload),
        workload.metadata.annotations,
    )
    by_city = [(annotations.PAUSED_CITIES, city_pauses.named(workload))]
    by_city += [(key, tuple(json_annotations.entries(known, key))) for key in _BY_CITY]
    for key, named in by_city:
        for city in (each for each in named if each not in cities):
            near = nearest(city, cities)
            hint = f'; did you mean "{near}"?' if near else ""
            yield f'{at.key(key)}: the spec does not name the city "{city}"{hint}'
    requests = replaced_instances.requests(workload)
    fitting = replaced_instances.fitting(workload, requests)
    for name in (each for each in requests if each not in fitting):
        field = at.key(annotations.REPLACED_INSTANCES)
        yield f'{field}: the spec has no instance "{name}"'
    templates = CityTemplates(workload)
    for city in json_annotations.entries(known, annotations.CITY_TEMPLATES):
        if city in cities and not templates.is_pinned(city):
            field = at.key(annotations.CITY_TEMPLATES).key(city)
            yield f"{field}: has no effect: the template has changed since, or is the same"


def pins_to_authorize(
    path: Path, workload: Workload, same_spec: Workload | None
) -> Iterator[tuple[Path, InstanceTemplate]]:
    """The pinned templates that hold and that this write is responsible for, with their paths."""
    key = annotations.CITY_TEMPLATES
    known = workload.metadata.annotations
    if same_spec and known.get(key) == same_spec.metadata.annotations.get(key):
        return
    templates = CityTemplates(workload)
    for city in cities_of(workload):
        pin = templates.pin(city)
        if pin is not None:
            yield path.child("annotations").key(key).key(city).child("template"), pin.template


def _check_cities(path: Path, _: str, value: str) -> Iterator[FieldError]:
    parts = [part.strip() for part in value.split(",")]
    if not all(parts) or any(map(label_syntax.value_fault, parts)):
        yield invalid(path, value, _CITIES)


def _check_stamps(path: Path, key: str, value: str) -> Iterator[FieldError]:
    entries = json_annotations.read(value)
    if entries is None:
        yield invalid(path, value, f"must be a JSON object, such as {_EXAMPLES[key]}")
    for name, stamp in (entries or {}).items():
        if not is_stamp(stamp):
            yield invalid(path.key(name), stamp, _TIME)


def _check_pins(path: Path, key: str, value: str) -> Iterator[FieldError]:
    entries = json_annotations.read(value)
    if entries is None:
        yield invalid(path, _HIDDEN, f"must be a JSON object, such as {_EXAMPLES[key]}")
    for city, entry in (entries or {}).items():
        yield from _check_pin(path.key(city), entry)


def _check_pin(path: Path, entry: object) -> Iterator[FieldError]:
    """The errors of a pin: those of its structure, else those of its template."""
    shape = structural.validate(entry, pin_reading.schema()) if isinstance(entry, dict) else []
    pin = None if shape else pin_reading.read_pin(entry)
    for error in shape:
        yield replace(error, path=path.child(error.path))
    if pin is not None:
        yield from check_template(path.child("template"), pin.template)
    elif not shape:
        yield invalid(path, _HIDDEN, 'must be an object with "revision", "template" and "instead"')


_CHECKS: Final[dict[str, Callable[[Path, str, str], Iterator[FieldError]]]] = {
    annotations.PAUSED_CITIES: _check_cities,
    annotations.RESTARTED_CITIES: _check_stamps,
    annotations.CITY_TEMPLATES: _check_pins,
    annotations.REPLACED_INSTANCES: _check_stamps,
}
