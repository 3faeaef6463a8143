"""What is a change of a status."""

from msgspec.structs import replace

from compute.cli.look.status_watch import changes
from compute.decide.health import CityState
from compute.views.workloads import workload_views
from tests.support.compute.builders import NOW, placement, workload

(WEB,) = workload_views([workload("web", placement("home", "DFW"))], (), (), NOW)


def in_city(**changed):
    (city,) = WEB.cities
    return replace(WEB, cities=(replace(city, **changed),))


def test_added_changed_and_gone():
    """Everything is new at first."""
    assert [(c.change, c.workload) for c in changes({}, [WEB])] == [("added", WEB)]
    ready = in_city(ready=1)
    assert [(c.change, c.workload) for c in changes({"web": WEB}, [ready])] == [("changed", ready)]
    assert [c.change for c in changes({"web": WEB}, [])] == ["gone"]


def test_a_text_that_counts_is_no_change():
    """While a city moves, its text says how far it is; the reason and the numbers count."""
    moving = in_city(state=CityState.UPDATING, why="for 3s", reason="Starting")
    later = replace(moving, cities=(replace(moving.cities[0], why="for 4s"),))
    failed = in_city(state=CityState.FAILED, why="no image")

    assert changes({"web": moving}, [later]) == []
    assert changes({"web": failed}, [in_city(state=CityState.FAILED, why="crash")]) != []
