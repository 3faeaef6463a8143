"""The review as a whole: updates, deletions, networks, order, defaults."""

import pytest

from compute.api import annotations
from compute.decide.validation import Default, NetworkUse, Review, defaults, validate, with_defaults
from kubekit.api.fields import Problem
from tests.support.compute.validation_builders import CITIES, blamed, changed, decoded, sandbox

CODES = "spec/placements/0/cityCodes"
INTERFACES = "spec/template/spec/networkInterfaces"
IMAGE = "spec/template/spec/runtime/sandbox/containers/0/image"


def networks_of(document, old=None):
    before = None if old is None else decoded(old)
    return validate(decoded(document), cities=CITIES, old=before).networks


def test_w52_an_update_is_held_to_the_rules():
    """What is refused at first is refused later, also where the old Workload had it already."""
    wrong = sandbox({"spec/placements/0/scaleSettings/minReplicas": 0})
    expected = [("spec.placements[0].scaleSettings.minReplicas", Problem.INVALID)]

    assert blamed(wrong) == expected
    assert blamed(wrong, old=sandbox()) == expected
    assert blamed(changed(wrong, {IMAGE: "web:2"}), old=wrong) == expected


def test_a_spec_that_stays_as_it_is_is_not_judged_again():
    """A Workload older than a rule can still be given, and lose, a finalizer."""
    wrong = sandbox({"spec/placements/0/scaleSettings/minReplicas": 0})
    held = changed(wrong, {"metadata/finalizers": ["compute.datumapis.com/workload-controller"]})
    switched = changed(wrong, {"metadata/annotations": {annotations.PAUSED: "perhaps"}})

    assert blamed(held, old=wrong) == []
    assert [problem for _, problem in blamed(switched, old=wrong)] == [Problem.NOT_SUPPORTED]


def test_a_withdrawn_city_does_not_block_other_edits():
    """A city the placement had before is kept with a warning after the project loses it."""
    old = sandbox({CODES: ["DFW", "SIN"]})
    review = validate(decoded(changed(old, {IMAGE: "web:2"})), cities=CITIES, old=decoded(old))

    assert review.errors == ()
    assert review.warnings == (
        'spec.placements[0].cityCodes[1]: city "SIN" is no longer offered to this project; '
        "what runs there is drained; remove it when you can",
    )


@pytest.mark.parametrize(
    "changes",
    [{CODES: ["DFW", "NRT"]}, {"spec/placements/0/name": "away", CODES: ["SIN"]}],
    ids=["another city", "another placement"],
)
def test_a_withdrawn_city_cannot_be_asked_for_anew(changes):
    """Only the placement that had the city keeps it."""
    old = sandbox({CODES: ["DFW", "SIN"]})
    (got,) = blamed(changed(old, changes), old=old)

    assert got[1] is Problem.NOT_SUPPORTED


def test_a_kept_city_is_still_named_once():
    """What is let pass is the city, not its repetition or another spelling of it."""
    old = sandbox({CODES: ["SIN"]})
    got = blamed(sandbox({CODES: ["sin", "SIN", "SIN"]}), old=old)

    assert got == [
        ("spec.placements[0].cityCodes[0]", Problem.DUPLICATE),
        ("spec.placements[0].cityCodes[2]", Problem.DUPLICATE),
    ]


def test_a_workload_on_its_way_out_is_not_refused():
    """Its finalizers must come off, whatever else is wrong with it."""
    going = sandbox({"spec/placements": [], "metadata/deletionTimestamp": "2026-06-01T12:00:00Z"})

    assert validate(decoded(going), cities=(), old=decoded(going)) == Review()


def test_a_new_workload_cannot_claim_to_be_on_its_way_out():
    """A deletion time in a manifest is no way around the rules: only the server sets it."""
    forged = sandbox({"spec/placements": [], "metadata/deletionTimestamp": "2026-06-01T12:00:00Z"})
    expected = [("spec.placements", Problem.REQUIRED)]

    assert blamed(forged) == expected
    assert blamed(forged, old=sandbox()) == expected


def test_trap14_access_is_asked_for_where_the_network_is():
    """The namespace is the network's own, or the Workload's when it names none; each asked once."""
    refs = [
        {"name": "default"},
        {"name": "default", "namespace": "shared"},
        {"name": "default", "namespace": "default"},
        {"name": "private"},
    ]
    got = networks_of(sandbox({INTERFACES: [{"network": ref} for ref in refs]}))

    path = "spec.template.spec.networkInterfaces"
    assert got == (
        NetworkUse("default", "default", f"{path}[0].network", "use"),
        NetworkUse("shared", "default", f"{path}[1].network", "use"),
        NetworkUse("default", "private", f"{path}[3].network", "use"),
    )


def test_any_change_of_the_spec_asks_for_access_again():
    """A new image on an old network is new traffic; a new annotation is not."""
    old = sandbox()

    assert networks_of(changed(old, {IMAGE: "web:2"}), old) == networks_of(old)
    assert networks_of(changed(old, {"metadata/annotations": {"a": "b"}}), old) == ()


def test_errors_come_in_the_order_of_the_document():
    """Metadata, template, runtime, networks, volumes, placements: as a manifest is read."""
    document = sandbox(
        {
            "metadata/name": "Web",
            "metadata/annotations": {"compute.datumapis.com/paused": "?"},
            "spec/template/metadata": {"labels": {"a": "?"}},
            "spec/template/spec/runtime/resources/instanceType": "?",
            IMAGE: "",
            INTERFACES: [],
            "spec/template/spec/volumes": [{"name": "a"}],
            "spec/placements": [],
        }
    )
    template = "spec.template"

    assert [path for path, _ in blamed(document)] == [
        "metadata.name",
        "metadata.annotations[compute.datumapis.com/paused]",
        f"{template}.metadata.labels[a]",
        f"{template}.spec.runtime.resources.instanceType",
        f"{template}.spec.runtime.sandbox.containers[0].image",
        f"{template}.spec.networkInterfaces",
        f"{template}.spec.volumes[0]",
        f"{template}.spec.volumes[0]",
        "spec.placements",
    ]


def test_the_list_of_errors_ends():
    """A document made of mistakes is refused by its first hundred."""
    assert len(blamed(sandbox({CODES: [f"X{n}" for n in range(5000)]}))) == 100


def test_an_empty_policy_is_the_default_one():
    """Clients that send an empty text for what they were not given get what absence gives."""
    policy = "spec/placements/0/scaleSettings/instanceManagementPolicy"
    empty = with_defaults(decoded(sandbox({policy: ""})))

    assert empty == decoded(sandbox({policy: "OrderedReady"})) == decoded(sandbox())


def test_defaults_name_the_fields_that_are_empty():
    """An admission webhook adds these fields, and no others."""
    (home,) = sandbox()["spec"]["placements"]
    policy = {"instanceManagementPolicy": ""}
    away = home | {"name": "away", "scaleSettings": home["scaleSettings"] | policy}
    path = ("spec", "placements", "1", "scaleSettings", "instanceManagementPolicy")

    given = decoded(sandbox({"spec/placements": [home, away]}))
    assert defaults(given) == (Default(path, "OrderedReady"),)


def test_nothing_else_is_filled_in():
    """A Workload that needs nothing is given back as it is, so that no write follows."""
    policy = "spec/placements/0/scaleSettings/instanceManagementPolicy"
    whole = decoded(sandbox({policy: "Parallel"}))

    assert with_defaults(whole) is whole
