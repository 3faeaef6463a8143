"""`--set path=value`."""

import pytest

from compute.decide.workload_edits import DeployFlags, FlagError, desired
from compute.decide.workload_edits.deploy_flags import Assignment
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import placement, workload

IMAGE = "spec.template.spec.runtime.sandbox.containers[app].image"


def changed(path, value="", *, existing=None):
    flags = DeployFlags(settings=(Assignment(path, value),))
    return desired(existing or workload(), flags, ObjectMeta())


def refused(path, value=""):
    with pytest.raises(FlagError) as error:
        changed(path, value)
    assert error.value.flag == "--set"
    return error.value.problem


def test_a_field_is_named_by_its_path():
    """Entries of lists have a name or a position; keys of maps may have dots."""
    by_name = changed("spec.placements[home].scaleSettings.minReplicas", "3")
    by_position = changed("spec.placements[0].scaleSettings.minReplicas", "3")
    owner = changed("metadata.annotations[example.com/owner]", "shop")

    assert by_name == by_position == workload("web", placement(replicas=3))
    assert owner.metadata.annotations == {"example.com/owner": "shop"}
    assert changed("spec.placements[0].cityCodes[0]", "LHR") == workload(
        "web", placement("home", "LHR")
    )


def test_a_value_is_json_or_a_text():
    """A text that looks like a number is a text where the field is one."""
    named = changed(IMAGE, "1.20")
    cities = changed("spec.placements[home].cityCodes", '["DFW","SIN"]')

    assert named.spec.template.spec.runtime.sandbox.containers[0].image == "1.20"
    assert cities == workload("web", placement("home", "DFW", "SIN"))


def test_a_value_that_is_nested_too_deeply():
    """It is taken as a text, which no field with parts takes."""
    assert refused("spec.placements", "[" * 100_000) == "spec.placements: must be of type array"


def test_a_field_is_removed():
    """An entry of a list is removed too. What a Workload needs cannot be."""
    owner = changed("metadata.annotations[example.com/owner]", "shop")
    both = workload("web", placement("home"), placement("away", "LHR"))

    assert changed("metadata.annotations[example.com/owner]", None, existing=owner) == workload()
    assert changed("spec.placements[away]", None, existing=both) == workload()
    assert "Required value" in refused("spec.template", None)


def test_the_status_stays():
    """It is not part of what a deploy writes."""
    existing = workload()

    assert changed(IMAGE, "web:2", existing=existing).status == existing.status


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("", "", '"" is no path, such as spec.placements[default].scaleSettings.minReplicas'),
        ("spec..x", "", '"spec..x" is no path'),
        (
            "status.replicas",
            "1",
            "a path starts with spec, metadata.labels or metadata.annotations",
        ),
        ("metadata.name", "x", '"metadata.name" cannot be set'),
        ("spec.placments", "[]", 'unknown field "spec.placments"; did you mean "placements"?'),
        ("spec.placements[nowhere].name", "x", 'there is no entry "nowhere"; there are: home'),
        ("spec.placements[0].cityCodes[7]", "x", 'there is no entry "7"; there are: 1 entries'),
        ("spec.placements[home].name.x", "x", '"x" is below a value that has no fields'),
        ("spec.placements[home].name.x.y", "x", '"x" is below a value that has no fields'),
        ("spec.placements[home].scaleSettings.minReplicas", "many", "must be of type integer"),
    ],
)
def test_a_wrong_path_or_value_is_explained(path, value, problem):
    """Nothing is ever dropped silently."""
    assert problem in refused(path, value)
