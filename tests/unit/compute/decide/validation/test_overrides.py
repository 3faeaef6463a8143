"""Annotations of a Workload for single cities and Instances."""

import json
from typing import Any

import pytest

from compute.api import annotations
from compute.decide.deployment.template import unstamped_hash
from compute.decide.validation import NetworkUse, Review, validate
from kubekit.api.fields import Problem
from tests.support.compute.validation_builders import (
    CITIES,
    blamed,
    changed,
    decoded,
    errors_of,
    sandbox,
)

CODES = "spec/placements/0/cityCodes"
IMAGE = "spec/template/spec/runtime/sandbox/containers/0/image"
NETWORKS = "spec/template/spec/networkInterfaces"
HASH_OF_THE_SANDBOX = unstamped_hash(decoded(sandbox()).spec.template)
AT = "metadata.annotations"
NOON = "2026-06-01T12:00:00Z"


def noted(key: str, value: object, **changes: Any) -> dict[str, Any]:
    """A Workload with this annotation; values that are no texts are written as JSON."""
    text = value if isinstance(value, str) else json.dumps(value)
    return sandbox({"metadata/annotations": {key: text}, **changes})


def pin(changes: dict[str, Any] | None = None, **known: Any) -> dict[str, Any]:
    """A pin of the template of the sandbox with these changes."""
    template = sandbox(changes or {IMAGE: "registry.test/web:0"})["spec"]["template"]
    return {"revision": 1, "template": template, "instead": HASH_OF_THE_SANDBOX} | known


def review(document: dict[str, Any], old: dict[str, Any] | None = None) -> Review:
    return validate(decoded(document), cities=CITIES, old=decoded(old) if old else None)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (annotations.PAUSED_CITIES, "DFW"),
        (annotations.PAUSED_CITIES, " DFW , DFW"),
        (annotations.RESTARTED_CITIES, {}),
        (annotations.RESTARTED_CITIES, {"DFW": NOON}),
        (annotations.REPLACED_INSTANCES, {"web-home-dfw-0": NOON}),
        (annotations.CITY_TEMPLATES, {"DFW": pin()}),
        (annotations.CITY_TEMPLATES, {"DFW": {k: v for k, v in pin().items() if k != "revision"}}),
    ],
)
def test_what_is_right_is_accepted_without_a_warning(key, value):
    assert (review(noted(key, value)).errors, review(noted(key, value)).warnings) == ((), ())


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            annotations.PAUSED_CITIES,
            "DFW,,LHR",
            ': Invalid value: "DFW,,LHR": must be city codes with commas between them, '
            'such as "DFW,LHR"',
        ),
        (
            annotations.PAUSED_CITIES,
            "",
            ': Invalid value: "": must be city codes with commas between them, such as "DFW,LHR"',
        ),
        (
            annotations.PAUSED_CITIES,
            '["DFW"]',
            ': Invalid value: "[\\"DFW\\"]": must be city codes with commas between them, '
            'such as "DFW,LHR"',
        ),
        (
            annotations.RESTARTED_CITIES,
            "DFW",
            ': Invalid value: "DFW": must be a JSON object, such as {"DFW":"2026-06-01T12:00:00Z"}',
        ),
        (
            annotations.RESTARTED_CITIES,
            {"DFW": "soon"},
            '[DFW]: Invalid value: "soon": must be a time in RFC 3339, such as 2026-06-01T12:00:00Z',
        ),
        (
            annotations.REPLACED_INSTANCES,
            {"web-home-dfw-0": 5},
            "[web-home-dfw-0]: Invalid value: 5: must be a time in RFC 3339, "
            "such as 2026-06-01T12:00:00Z",
        ),
        (
            annotations.REPLACED_INSTANCES,
            "[]",
            ': Invalid value: "[]": must be a JSON object, '
            'such as {"web-home-dfw-0":"2026-06-01T12:00:00Z"}',
        ),
        (
            annotations.CITY_TEMPLATES,
            "[]",
            ': Invalid value: "(not shown)": must be a JSON object, '
            'such as {"DFW":{"revision":3,"template":{...},"instead":"HASH"}}',
        ),
        (
            annotations.CITY_TEMPLATES,
            {"DFW": "text"},
            '[DFW]: Invalid value: "(not shown)": must be an object with "revision", "template" '
            'and "instead"',
        ),
        (
            annotations.CITY_TEMPLATES,
            {"DFW": pin(instead=None)},
            "[DFW].instead: Required value",
        ),
        (annotations.CITY_TEMPLATES, {"DFW": pin(template={})}, "[DFW].template.spec: Required"),
        (
            annotations.CITY_TEMPLATES,
            {"DFW": pin({"spec/template/spec/runtime/resources/instanceType": "huge"})},
            "[DFW].template.spec.runtime.resources.instanceType: Unsupported value",
        ),
    ],
)
def test_what_controllers_would_ignore_is_refused(key, value, message):
    """The message says where, and how to write it. That a template is wrong is said field by field."""
    (error,) = errors_of(noted(key, value))
    assert error.startswith(f"{AT}[{key}]{message}")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (annotations.PAUSED_CITIES, ","),
        (annotations.RESTARTED_CITIES, "{"),
        (annotations.CITY_TEMPLATES, "{"),
        (annotations.REPLACED_INSTANCES, "{"),
    ],
)
def test_only_what_changes_is_refused(key, value):
    """A value may be older than a rule, and controllers must be able to write the rest."""
    old = noted(key, value)
    assert blamed(changed(old, {IMAGE: "registry.test/web:2"}), old=old) == []
    assert blamed(changed(old, {"metadata/finalizers": ["a.example/b"]}), old=old) == []
    assert [problem for _, problem in blamed(old, old=sandbox())] == [Problem.INVALID]
    assert blamed(sandbox(), old=old) == []


def test_entries_without_effect_are_warned_about():
    """Of cities and Instances that the spec does not have, with the nearest name where there is one."""
    known = {
        annotations.PAUSED_CITIES: "DFW,dfw,NRT",
        annotations.RESTARTED_CITIES: json.dumps({"DFV": NOON}),
        annotations.CITY_TEMPLATES: json.dumps({"LHR": pin()}),
        annotations.REPLACED_INSTANCES: json.dumps({"web-home-dfw-1": NOON, "web": NOON}),
    }
    got = review(sandbox({"metadata/annotations": known}))
    assert got.errors == ()
    assert [w.removeprefix(f"{AT}[compute.datumapis.com/") for w in got.warnings] == [
        'paused-cities]: the spec does not name the city "dfw"; did you mean "DFW"?',
        'paused-cities]: the spec does not name the city "NRT"',
        'restarted-cities]: the spec does not name the city "DFV"; did you mean "DFW"?',
        'city-templates]: the spec does not name the city "LHR"',
        'replaced-instances]: the spec has no instance "web-home-dfw-1"',
        'replaced-instances]: the spec has no instance "web"',
    ]


@pytest.mark.parametrize(
    "entry",
    [pin(instead="of-another"), pin({IMAGE: "registry.test/web:1"})],
    ids=["changed since", "the same"],
)
def test_a_pin_that_does_not_hold_is_warned_about(entry):
    """It does nothing now, and would hold again if the template of that time came back."""
    assert review(noted(annotations.CITY_TEMPLATES, {"DFW": entry})).warnings == (
        f"{AT}[{annotations.CITY_TEMPLATES}][DFW]: has no effect: the template has changed since, "
        "or is the same",
    )


OTHER = [{"network": {"name": "other"}}, {"network": {"name": "other", "namespace": "shared"}}]
PINNED = noted(annotations.CITY_TEMPLATES, {"DFW": pin({NETWORKS: OTHER})})
PIN_PATH = f"{AT}[{annotations.CITY_TEMPLATES}][DFW].template.spec.networkInterfaces"
OF_THE_PIN = (
    NetworkUse("default", "other", f"{PIN_PATH}[0].network", "use"),
    NetworkUse("shared", "other", f"{PIN_PATH}[1].network", "use"),
)
OF_THE_SPEC = (
    NetworkUse("default", "default", "spec.template.spec.networkInterfaces[0].network", "use"),
)


def test_a_new_pin_asks_for_access_to_its_networks():
    """Those of the spec are asked for when the spec changes, and then those of each pin too."""
    assert review(PINNED, sandbox()).networks == OF_THE_PIN
    assert review(PINNED).networks == OF_THE_SPEC + OF_THE_PIN
    scaled = changed(PINNED, {"spec/placements/0/scaleSettings/minReplicas": 2})
    assert review(scaled, PINNED).networks == OF_THE_SPEC + OF_THE_PIN


@pytest.mark.parametrize(
    ("document", "old"),
    [
        pytest.param(changed(PINNED, {"metadata/labels": {"a": "b"}}), PINNED, id="the same pin"),
        pytest.param(sandbox(), PINNED, id="removed"),
        pytest.param(noted(annotations.CITY_TEMPLATES, "{"), PINNED, id="unreadable"),
        pytest.param(
            noted(
                annotations.CITY_TEMPLATES, {"DFW": pin({NETWORKS: OTHER}, instead="of-another")}
            ),
            sandbox(),
            id="does not hold",
        ),
        pytest.param(
            noted(annotations.CITY_TEMPLATES, {"LHR": pin({NETWORKS: OTHER})}),
            sandbox(),
            id="of another city",
        ),
    ],
)
def test_what_does_not_pin_asks_for_nothing(document, old):
    """No Instance is attached to its networks."""
    assert review(document, old).networks == ()


def test_a_pin_that_comes_to_hold_asks_for_access():
    """By a change of the template, or of the cities: the user who writes that needs the access."""
    waiting = noted(annotations.CITY_TEMPLATES, {"DFW": pin({NETWORKS: OTHER})})
    before = changed(waiting, {IMAGE: "registry.test/web:9"})
    assert review(waiting, before).networks == OF_THE_SPEC + OF_THE_PIN
    elsewhere = changed(waiting, {CODES: ["LHR"]})
    assert review(waiting, elsewhere).networks == OF_THE_SPEC + OF_THE_PIN
