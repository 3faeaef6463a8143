"""The timeline of events."""

from datetime import timedelta

from compute.api import labels, names
from compute.views.events import EventFilter, EventOrigins, EventTimeline, timeline
from kubekit.api.kinds.events import EventSeries, EventSource
from kubekit.api.meta import EPOCH
from kubekit.api.times import MicroTime, format_micro
from tests.support.compute.builders import NOW, deployment
from tests.support.compute.event_builders import event

NOTHING = EventOrigins({})
ALL = EventFilter()
WEB = EventFilter("web")
SECOND = timedelta(seconds=1)


def lines(*events, wanted=ALL, origins=NOTHING):
    """Object, city and reason of each line."""
    found = timeline(events, origins, wanted).lines()
    return [(each.object.name, each.city, each.reason) for each in found]


def test_the_oldest_is_first():
    """The timeline is ordered by when each event happened last, to the microsecond."""
    late = event("Workload/web", "Late", at=NOW + timedelta(microseconds=5))
    early = event("Workload/web", "Early", at=NOW)

    assert lines(late, early) == [("web", None, "Early"), ("web", None, "Late")]


def test_equal_events_are_one_line_with_a_count():
    """Events of the same object with the same reason and message are counted, with first and last."""
    first = event("Workload/web", at=NOW, name="a", count=2)
    again = event("Workload/web", at=NOW + 9 * SECOND, name="b")

    (line,) = timeline([first, again], NOTHING, ALL).lines()

    assert (line.count, line.first, line.time) == (3, NOW, NOW + 9 * SECOND)


def test_a_series_counts_as_often_as_it_was_observed():
    """An event that goes on has its count and its last time in its series."""
    series = EventSeries(count=7, last_observed_time=format_micro(NOW + 60 * SECOND))

    (line,) = timeline([event("Workload/web", series=series)], NOTHING, ALL).lines()

    assert (line.count, line.first, line.time) == (7, NOW, NOW + 60 * SECOND)


def test_the_origin_follows_from_the_name():
    """Workload and city are known for objects that are gone, as long as their name can be split."""
    of_instance = event("Instance/web-home-dfw-0", "Crashed")
    of_deployment = event("WorkloadDeployment/web-home-lhr", "Federated", at=NOW + SECOND)
    other = event("Instance/edge-home-dfw-0")

    assert lines(of_instance, of_deployment, other, wanted=WEB) == [
        ("web-home-dfw-0", "DFW", "Crashed"),
        ("web-home-lhr", "LHR", "Federated"),
    ]


def test_a_name_with_a_hash_is_looked_up():
    """The name of a long placement does not show the city; the deployment does."""
    hashed = names.deployment("web", "behind-the-sea", "SIN")
    owner = deployment(name=hashed)
    origins = EventOrigins.of([owner])

    assert lines(event(f"Instance/{hashed}-0"), wanted=WEB, origins=origins) == [
        (f"{hashed}-0", "DFW", "Created")
    ]
    assert lines(event(f"Instance/{hashed}-0"), wanted=WEB) == []


def test_a_recorded_city_comes_first():
    """The label of an event is better than a guess from a name."""
    of = event("Instance/web-home-dfw-0", recorded={labels.CITY_CODE: "SIN"})

    assert lines(of) == [("web-home-dfw-0", "SIN", "Created")]


def test_objects_of_other_kinds_have_no_origin():
    """A network of the same name is not part of the workload; a namespace shows it."""
    assert lines(event("Network/web"), wanted=WEB) == []
    assert lines(event("Network/web"), event("Instance/strange")) == [
        ("strange", None, "Created"),
        ("web", None, "Created"),
    ]


def test_an_instance_can_be_named():
    """The name of a deployment or an instance shows the events of that object."""
    of = event("Instance/web-home-dfw-0")
    others = event("Instance/web-home-dfw-1"), event("WorkloadDeployment/web-home-dfw")

    assert lines(of, *others, wanted=EventFilter("web-home-dfw-0")) == [
        ("web-home-dfw-0", "DFW", "Created")
    ]


def test_the_copy_on_the_workload_is_left_out():
    """A city's event is written on the deployment and on the workload: the timeline has it once."""
    well = "DFW is available: 1 of 1 instances ready"
    known = [
        event("WorkloadDeployment/web-home-dfw", "CityAvailable", well),
        event("Workload/web", "CityAvailable", well),
        event("WorkloadDeployment/web-home-dfw", "QuotaExceeded", "no quota", warning=True),
        event("Workload/web", "CityStuck", "DFW is stuck (QuotaExceeded): no quota", warning=True),
    ]

    assert lines(*known, wanted=WEB) == [
        ("web-home-dfw", "DFW", "CityAvailable"),
        ("web-home-dfw", "DFW", "QuotaExceeded"),
    ]


def test_a_copy_alone_has_its_city():
    """Where only the workload's copy is left, its message names the city."""
    copy = event("Workload/web", "CityStuck", "DFW is stuck (QuotaExceeded): no quota")

    assert lines(copy, wanted=EventFilter("web", ("DFW",))) == [("web", "DFW", "CityStuck")]


def test_cities_and_times_are_filtered():
    """Only the events of the cities, and not those before the time."""
    old = event("Instance/web-home-dfw-0", "Old", at=NOW)
    new = event("Instance/web-home-dfw-0", "New", at=NOW + 10 * SECOND)
    elsewhere = event("Instance/web-home-lhr-0", "New", at=NOW + 10 * SECOND)
    wanted = EventFilter("web", ("DFW",), NOW + 5 * SECOND)

    assert lines(old, new, elsewhere, event("Workload/web"), wanted=wanted) == [
        ("web-home-dfw-0", "DFW", "New")
    ]


def test_an_event_that_is_known_is_no_news():
    """After a new list, only what changed is a line."""
    known = EventTimeline(NOTHING, ALL)
    line = known.add(event("Workload/web"))

    assert line is not None
    assert known.add(event("Workload/web")) is None
    repeated = known.add(event("Workload/web", version="2", count=2))
    assert repeated is not None
    assert repeated.count == 2


def test_events_that_the_server_has_deleted_are_forgotten():
    """A follower does not grow without bound."""
    gone, kept = event("Workload/web"), event("Workload/edge")
    known = timeline([gone, kept], NOTHING, ALL)

    known.keep_only([kept.metadata.uid])
    known.remove(gone)

    assert [line.object.name for line in known.lines()] == ["edge"]


def test_events_of_old_recorders():
    """An old recorder writes neither times to the microsecond nor the new name of the reporter."""
    old = event(
        "Workload/web",
        event_time=None,
        reporting_component="",
        source=EventSource(component="old"),
    )
    (line,) = timeline([old], NOTHING, ALL).lines()
    assert (line.first, line.reporter) == (NOW, "old")

    odd = event(
        "Workload/web",
        count=0,
        event_time=MicroTime("soon"),
        first_timestamp=None,
        last_timestamp=None,
    )
    (line,) = timeline([odd], NOTHING, ALL).lines()
    assert (line.first, line.time, line.count) == (EPOCH, EPOCH, 1)


def test_a_deployment_that_is_gone_stays_known():
    """Its events outlive it, and a hash in its name says nothing of its workload."""
    name = names.deployment("a-name-that-is-long" * 3, "home", "DFW")
    known = EventOrigins.of([deployment(name=name)]).with_deployments([])

    assert known.find(event(f"WorkloadDeployment/{name}")).workload == "web"
