"""Cities as people read them."""

from datetime import timedelta

import msgspec

from compute.api import labels
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.networking import (
    BoundLocation,
    LocationBinding,
    LocationBindingSpec,
    LocationBindingStatus,
)
from compute.views.project.cities import (
    CityObjects,
    CityOfferView,
    CityUsability,
    city_offers,
    found,
    usable,
)
from kubekit.api.meta import Condition, ConditionStatus, ObjectMeta
from tests.support.compute.builders import (
    NOW,
    condition,
    deployment,
    instance,
    placement,
    workload,
)

READY = condition("Available", "True", "Ready", since=NOW)
SILENT = condition(
    "Available", "False", "CellUnreachable", "No cell of the city answers", since=NOW
)


def binding(city: str, *conditions: Condition, name: str = "", **topology: str) -> LocationBinding:
    codes = {labels.TOPOLOGY_CITY_CODE: city} if city else {}
    return LocationBinding(
        metadata=ObjectMeta(name=name or city.lower()),
        spec=LocationBindingSpec(
            location_class_name="datum-managed",
            location_ref=BoundLocation(name=name or city.lower()),
            topology=codes | {f"topology.datum.net/{key}": text for key, text in topology.items()},
        ),
        status=LocationBindingStatus(conditions=conditions),
    )


def of_city(
    city: str, ordinal: int = 0, cell: str = "", ready: ConditionStatus = "True"
) -> Instance:
    made = instance(ordinal, conditions=(condition("Ready", ready),))
    known = {labels.CITY_CODE: city, labels.WORKLOAD_NAME: "web"}
    marks = known | ({labels.SOURCE_CLUSTER: cell} if cell else {})
    meta = msgspec.structs.replace(made.metadata, labels=marks)
    return msgspec.structs.replace(made, metadata=meta)


def silent_deployment() -> WorkloadDeployment:
    """A deployment in DFW whose cell last reported five minutes ago."""
    since = NOW - timedelta(minutes=5)
    said = condition("Available", "Unknown", "CellUnreachable", "Cell dfw is silent", since=since)
    made = deployment()
    status = msgspec.structs.replace(made.status, conditions=(said,))
    return msgspec.structs.replace(made, status=status)


def only(*bindings: LocationBinding, **objects: tuple[object, ...]) -> CityOfferView:
    (city,) = city_offers(CityObjects(bindings=bindings, **objects))  # type: ignore[arg-type]
    return city


def test_a_city_that_can_be_used_has_no_note():
    """It has its name, where it is, and the cells that run something."""
    instances = (of_city("DFW", 0, "dfw-a"), of_city("DFW", 1, "dfw-b", "False"), of_city("DFW", 2))

    city = only(binding("DFW", READY, country="US"), instances=instances)

    assert (city.code, city.name, city.country, city.place) == ("DFW", "Dallas", "US", "US")
    assert (city.state, city.note, city.next_step) == (CityUsability.READY, "", "")
    assert [(site.name, site.instances, site.ready) for site in city.sites] == [
        ("dfw-a", 1, 1),
        ("dfw-b", 1, 0),
    ]
    assert (city.ready, city.instances, city.workloads) == (2, 3, ("web",))


def test_a_region_is_shown_before_a_country():
    """It says more."""
    assert only(binding("DFW", READY, country="US", region="us-south")).place == "us-south"


def test_a_city_without_an_answer_says_why():
    """Since when, what to do, and how old the data is."""
    city = only(binding("DFW", SILENT), deployments=(silent_deployment(),))

    assert city.state is CityUsability.UNREACHABLE
    assert city.note == "No cell of the city answers."
    assert (city.since, city.reported_at) == (NOW, NOW - timedelta(minutes=5))
    assert "operators of the cell" in city.next_step


def test_a_silent_cell_is_noted_before_the_city_is_given_up():
    """Another cell of the city may still answer."""
    city = only(binding("DFW", READY), deployments=(silent_deployment(),))

    assert (city.state, city.note) == (CityUsability.READY, "Cell dfw is silent.")


def test_a_new_city_is_unknown():
    """Nothing is known of it yet, or nothing yet of its cell."""
    pending = condition("Available", "Unknown", "Pending")

    assert only(binding("DFW")).state is CityUsability.UNKNOWN
    assert only(binding("DFW", pending)).note == "It has not been reconciled yet."


def test_a_city_that_is_used_and_not_offered_is_withdrawn():
    """By a workload that names it, or an instance that is still there."""
    named = workload("web", placement("home", "LHR"))

    cities = city_offers(CityObjects(bindings=(), workloads=(named,), instances=(of_city("SIN"),)))

    assert [(city.code, city.state) for city in cities] == [
        ("LHR", CityUsability.WITHDRAWN),
        ("SIN", CityUsability.WITHDRAWN),
    ]
    assert cities[0].next_step.startswith("Name another city")
    assert cities[0].workloads == ("web",)


def test_all_other_cities_are_listed_on_request():
    """Each says that it is not offered."""
    cities = city_offers(CityObjects(bindings=(binding("DFW", READY),)), everywhere=True)
    states = {city.code: city.state for city in cities}

    assert states["DFW"] is CityUsability.READY
    assert states["LHR"] is CityUsability.NOT_OFFERED
    assert usable(cities) == ("DFW",)


def test_the_best_of_two_locations_of_a_city_counts():
    """A location without a city offers none."""
    bindings = (
        binding("DFW", SILENT, name="a"),
        binding("DFW", READY, name="b"),
        binding("", READY, name="mine"),
    )

    (city,) = city_offers(CityObjects(bindings=bindings))

    assert (city.location, city.state) == ("b", CityUsability.READY)


def test_a_server_without_locations_lists_what_is_used():
    """It is not known whether they are offered."""
    (city,) = city_offers(CityObjects(bindings=None, instances=(of_city("XYZ"), instance())))[:1]

    assert (city.code, city.name, city.state) == ("DFW", "Dallas", CityUsability.UNKNOWN)
    assert city.note == "The server does not report locations."


def test_a_city_is_found_by_code_name_or_location():
    """In any letter case."""
    cities = city_offers(CityObjects(bindings=(binding("LHR", READY, name="eu-1"),)))

    assert [found(word, cities) for word in ("lhr", "london", "EU-1")] == [cities[0]] * 3
    assert found("DFW", cities) is None
