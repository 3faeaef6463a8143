"""Placements: their names, their cities, how many Instances."""

import pytest

from compute.decide.validation import validate
from kubekit.api.fields import Problem
from tests.support.compute.validation_builders import blamed, decoded, errors_of, sandbox

CODES = "spec/placements/0/cityCodes"
SCALE = "spec/placements/0/scaleSettings"
CODES_PATH = "spec.placements[0].cityCodes"
SCALE_PATH = "spec.placements[0].scaleSettings"


def placement(name, *cities):
    return {"name": name, "cityCodes": list(cities), "scaleSettings": {"minReplicas": 1}}


def scaled(**settings):
    """The errors of some scale settings, by their path within them."""
    got = blamed(sandbox({SCALE: {"minReplicas": 1} | settings}))
    return [(path.removeprefix(SCALE_PATH + "."), problem) for path, problem in got]


def test_a_placement_is_needed():
    """A Workload that is nowhere is refused."""
    assert blamed(sandbox({"spec/placements": []})) == [("spec.placements", Problem.REQUIRED)]


@pytest.mark.parametrize("name", ["Home", "my home", "x" * 64])
def test_w45_the_name_of_a_placement_is_a_dns_label(name):
    """It becomes part of names and the value of a label."""
    got = blamed(sandbox({"spec/placements/0/name": name}))

    assert got == [("spec.placements[0].name", Problem.INVALID)]


def test_a_placement_has_a_name():
    """An empty name is missing; several of them are not duplicates."""
    got = blamed(sandbox({"spec/placements": [placement("", "DFW"), placement("", "LHR")]}))

    assert got == [
        ("spec.placements[0].name", Problem.REQUIRED),
        ("spec.placements[1].name", Problem.REQUIRED),
    ]


def test_w54_placement_names_are_unique():
    """Two placements of one name would share their deployments."""
    got = errors_of(sandbox({"spec/placements": [placement("a", "DFW"), placement("a", "LHR")]}))

    assert got == [
        'spec.placements[1].name: Duplicate value: "a": '
        "spec.placements[0].name has it already; use each only once"
    ]


def test_two_placements_may_share_a_city():
    """Different placements make different deployments, in one city or in several."""
    got = errors_of(sandbox({"spec/placements": [placement("a", "DFW"), placement("b", "DFW")]}))

    assert got == []


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (["DFW", "LHR"], []),
        ([], [("", Problem.REQUIRED)]),
        (["DFW", "DFW"], [("[1]", Problem.DUPLICATE)]),
        (["DFW", "LHR", "DFW", "DFW"], [("[2]", Problem.DUPLICATE), ("[3]", Problem.DUPLICATE)]),
        (["XYZ"], [("[0]", Problem.NOT_SUPPORTED)]),
        ([""], [("[0]", Problem.NOT_SUPPORTED)]),
        (["DFW", "dfw"], [("[1]", Problem.DUPLICATE)]),
        (["dfw", "DFW"], [("[0]", Problem.DUPLICATE)]),
        (["xyz", "XYZ"], [("[0]", Problem.NOT_SUPPORTED), ("[1]", Problem.DUPLICATE)]),
    ],
    ids=repr,
)
def test_cities_are_offered_and_named_once(codes, expected):
    """Each city is one the project is offered, and stands in a placement only once."""
    got = blamed(sandbox({CODES: codes}))

    assert got == [(CODES_PATH + path, problem) for path, problem in expected]


@pytest.mark.parametrize(
    ("codes", "at", "text"),
    [
        (["DFW", "dfw"], 1, 'Duplicate value: "dfw": this is "DFW" in another case; keep "DFW"'),
        (["dfw", "DFW"], 0, 'Duplicate value: "dfw": this is "DFW" in another case; keep "DFW"'),
        (
            ["lhr"],
            0,
            'Unsupported value: "lhr": supported values: "DFW", "DLS", "LHR"; '
            'the case of a city code matters, write "LHR"',
        ),
        (
            ["LHW"],
            0,
            'Unsupported value: "LHW": supported values: "DFW", "DLS", "LHR"; did you mean "LHR"?',
        ),
        (
            ["dlsx"],
            0,
            'Unsupported value: "dlsx": supported values: "DFW", "DLS", "LHR"; did you mean "DLS"?',
        ),
        (["NRT"], 0, 'Unsupported value: "NRT": supported values: "DFW", "DLS", "LHR"'),
    ],
    ids=["clash", "clash, wrong first", "case", "one letter", "one more", "far"],
)
def test_a_wrong_city_comes_with_the_right_one(codes, at, text):
    """The error names the city that was probably meant."""
    assert errors_of(sandbox({CODES: codes})) == [f"{CODES_PATH}[{at}]: {text}"]


@pytest.mark.parametrize(("length", "hinted"), [(63, True), (64, False)])
def test_a_long_text_is_no_misspelt_city(length, hinted):
    """No hint is searched for where the search would cost too much."""
    city, misspelt = "C" * 63, "X" + "C" * (length - 1)
    (got,) = validate(decoded(sandbox({CODES: [misspelt]})), cities=[city]).errors

    assert got.detail.endswith(f'did you mean "{city}"?') is hinted


def test_a_project_without_cities_gets_that_error():
    """When nothing is offered the list of supported values would be empty and puzzling."""
    (got,) = validate(decoded(sandbox()), cities=()).errors

    assert str(got) == (
        f'{CODES_PATH}[0]: Unsupported value: "DFW": '
        "no value is supported; this project is offered no city yet"
    )


@pytest.mark.parametrize("city", ["New York", "x" * 64, ""])
def test_a_city_must_fit_in_a_label(city):
    """A site with an impossible code is offered in vain: nothing could be routed to it."""
    (got,) = validate(decoded(sandbox({CODES: [city]})), cities=[city]).errors

    assert (got.path, got.problem) == (f"{CODES_PATH}[0]", Problem.INVALID)


def test_two_offered_cities_that_differ_only_in_case_are_not_mixed():
    """Even if both exist, one placement does not mean both: the first is kept."""
    got = validate(decoded(sandbox({CODES: ["dfw", "DFW"]})), cities=["DFW", "dfw"]).errors

    assert [(e.path, e.problem) for e in got] == [(f"{CODES_PATH}[1]", Problem.DUPLICATE)]


@pytest.mark.parametrize(
    ("replicas", "right"), [(-1, False), (0, False), (1, True), (1000, True), (1001, False)]
)
def test_the_least_number_has_bounds(replicas, right):
    """From one to a thousand Instances in each city."""
    assert scaled(minReplicas=replicas) == ([] if right else [("minReplicas", Problem.INVALID)])


METRIC = {"resource": {"name": "cpu", "target": {"averageUtilization": 70}}}


@pytest.mark.parametrize(("least", "most", "right"), [(3, 2, False), (3, 3, True), (3, 4, True)])
def test_w53_the_most_is_not_less_than_the_least(least, most, right):
    """A range that is empty cannot be met."""
    got = scaled(minReplicas=least, maxReplicas=most, metrics=[METRIC])

    assert got == ([] if right else [("maxReplicas", Problem.INVALID)])


def test_the_most_needs_a_metric():
    """Without a metric nothing says when to go beyond the least."""
    assert scaled(maxReplicas=2) == [("metrics", Problem.REQUIRED)]


def test_trap7_only_known_policies_are_taken():
    """An unknown policy would create no Instance at all."""
    assert scaled(instanceManagementPolicy="OrderedReady") == []
    assert scaled(instanceManagementPolicy="Parallel") == []
    unknown = [("instanceManagementPolicy", Problem.NOT_SUPPORTED)]
    assert scaled(instanceManagementPolicy="Random") == unknown
    assert scaled(instanceManagementPolicy="") == unknown


@pytest.mark.parametrize(
    ("target", "path", "problem"),
    [
        ({"averageUtilization": 1}, None, None),
        ({"averageValue": "500m"}, None, None),
        ({"value": 2}, None, None),
        ({}, "", Problem.REQUIRED),
        ({"value": 1, "averageValue": 1}, "", Problem.FORBIDDEN),
        ({"value": 1, "averageUtilization": 1}, "", Problem.FORBIDDEN),
        ({"averageUtilization": 0}, ".averageUtilization", Problem.INVALID),
        ({"averageValue": "0"}, ".averageValue", Problem.INVALID),
        ({"averageValue": "-1"}, ".averageValue", Problem.INVALID),
        ({"value": "much"}, ".value", Problem.INVALID),
    ],
    ids=repr,
)
def test_a_metric_has_one_target(target, path, problem):
    """Exactly one target, and more than nothing."""
    got = scaled(maxReplicas=2, metrics=[{"resource": {"name": "cpu", "target": target}}])

    assert got == ([(f"metrics[0].resource.target{path}", problem)] if problem else [])


def test_a_metric_is_of_a_known_resource():
    """Only the processor can be followed; a metric of nothing is refused too."""
    target = {"averageUtilization": 70}
    disk = {"resource": {"name": "disk", "target": target}}

    assert scaled(maxReplicas=2, metrics=[{}, disk]) == [
        ("metrics[0].resource", Problem.REQUIRED),
        ("metrics[1].resource.name", Problem.NOT_SUPPORTED),
    ]


def test_metrics_alone_are_ignored():
    """Without a maximum there is nothing to follow: there is a warning and no error."""
    review = validate(
        decoded(sandbox({SCALE: {"minReplicas": 1, "metrics": [{}]}})), cities=("DFW",)
    )

    assert review.errors == ()
    assert review.warnings == (
        "spec.placements[0].scaleSettings.metrics: without maxReplicas these are ignored",
    )
