"""What an undo writes, for a whole Workload and in single cities."""

import pytest
from msgspec.structs import replace

from compute.api import annotations
from compute.api.compute import Workload
from compute.decide.overrides import CityTemplates, paused, pinned, restarted, template_for
from compute.decide.workload import history
from compute.decide.workload.history import Refusal
from compute.decide.workload.undo_plan import UndoChoice, UndoPlan, plan_undo
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import with_metadata
from tests.support.compute.builders import NOW, placement, template, workload


def version(number: int, replicas: int = 1) -> Workload:
    home = placement("home", "DFW", "LHR", "SIN", replicas=replicas)
    return workload("web", home, template=template(f"web:{number}"))


def recorded(*versions: Workload, healthy: tuple[int, ...] = ()) -> ConfigMap:
    """The history after these specs; those at ``healthy`` served."""
    kept = ConfigMap()
    for position, each in enumerate(versions, 1):
        kept = history.record(kept, each, "jo", NOW) or kept
        kept = history.mark_healthy(kept, NOW) or kept if position in healthy else kept
    return kept


THREE = recorded(version(1), version(2), version(3), healthy=(1, 2))


def undo(of: Workload, known: ConfigMap = THREE, **choice: object) -> UndoPlan:
    plan = plan_undo(of, known, UndoChoice(**choice))  # type: ignore[arg-type]  # a test's words
    assert isinstance(plan, UndoPlan)
    return plan


def steps(plan: UndoPlan) -> list[tuple[tuple[str, ...], int, tuple[str, ...]]]:
    return [(step.cities, step.revision.rev, step.changes) for step in plan.steps]


def test_the_whole_workload_goes_back_to_the_newest_healthy_template():
    """The scale stays, and every city is named."""
    plan = undo(version(3, replicas=5))

    assert plan.workload.spec == version(2, replicas=5).spec
    assert steps(plan) == [(("DFW", "LHR", "SIN"), 2, ("image: web:3 → web:2",))]
    assert not plan.paused


def test_all_of_the_spec_goes_back():
    """Placements and scale too, to any revision that is named."""
    plan = undo(version(3, replicas=5), to=1, whole=True)

    assert plan.workload.spec == version(1).spec
    assert steps(plan)[0][1:] == (1, ("min replicas: 5 → 1", "image: web:3 → web:1"))


def test_pins_of_an_earlier_template_are_dropped():
    """They would hold again as soon as the template of that time came back."""
    before = pinned(version(3), {"LHR": (2, template("web:2"))})
    plan = undo(before)

    assert annotations.CITY_TEMPLATES not in plan.workload.metadata.annotations


def test_single_cities_are_pinned():
    """The spec stays, and so do the other cities."""
    plan = undo(version(3), cities=("LHR", "DFW"))

    assert plan.workload.spec == version(3).spec
    assert [template_for(plan.workload, city) for city in ("DFW", "LHR", "SIN")] == [
        template("web:2"),
        template("web:2"),
        template("web:3"),
    ]
    assert steps(plan) == [(("LHR", "DFW"), 2, ("image: web:3 → web:2",))]


def test_a_pinned_city_goes_further_back():
    """Each city has its own newest revision to go back to."""
    plan = undo(undo(version(3), cities=("LHR",)).workload, cities=("DFW", "LHR"))

    assert steps(plan) == [
        (("DFW",), 2, ("image: web:3 → web:2",)),
        (("LHR",), 1, ("image: web:2 → web:1",)),
    ]


def test_a_pinned_city_comes_back_to_the_others():
    """The active revision by its number ends the pin."""
    before = undo(version(3), cities=("LHR",)).workload
    plan = undo(before, to=3, cities=("LHR",))

    assert steps(plan) == [(("LHR",), 3, ("image: web:2 → web:3",))]
    assert annotations.CITY_TEMPLATES not in plan.workload.metadata.annotations


def test_a_city_that_is_there_already_is_left_alone():
    """It is named, so that the user sees that nothing happens there."""
    before = undo(version(3), cities=("LHR",)).workload
    plan = undo(before, to=2, cities=("LHR", "DFW"))

    assert steps(plan) == [(("DFW",), 2, ("image: web:3 → web:2",))]
    assert plan.unchanged == ("LHR",)
    assert CityTemplates(plan.workload).is_pinned("LHR")


def test_a_restart_of_a_city_is_no_difference():
    """The city keeps its restart, and an undo to what it runs is none."""
    before = restarted(version(3), ("LHR",), NOW)
    all_restarted = restarted(version(3), (), NOW)
    known = history.record(THREE, all_restarted, "jo", NOW)
    there = Refusal("the workload is at revision 3 already")

    assert plan_undo(before, THREE, UndoChoice(to=3, cities=("LHR",))) == there
    assert plan_undo(all_restarted, known, UndoChoice(to=3, cities=("LHR",))) == there
    assert plan_undo(all_restarted, known, UndoChoice(to=4, cities=("LHR",))) == Refusal(
        "the workload is at revision 4 already"
    )
    assert steps(undo(before, cities=("LHR",)))[0][2] == ("image: web:3 → web:2",)


def test_paused_cities_are_named():
    """The undo waits there; of a city that is not undone this says nothing."""
    before = paused(version(3), ("LHR", "SIN"))

    assert undo(before).paused == ("LHR", "SIN")
    assert undo(before, cities=("DFW", "LHR")).paused == ("LHR",)


@pytest.mark.parametrize(
    ("choice", "why"),
    [
        (UndoChoice(to=9), "there is no revision 9; known: 1, 2, 3"),
        (UndoChoice(to=9, cities=("LHR",)), "there is no revision 9; known: 1, 2, 3"),
        (UndoChoice(to=3), "the workload is at revision 3 already"),
    ],
)
def test_what_cannot_be_undone_has_a_reason(choice, why):
    """The history's own words, in a city as for the whole."""
    assert plan_undo(version(3), THREE, choice) == Refusal(why)


def test_the_rest_of_the_object_stays():
    """An undo writes the template, or the pins, and nothing else."""
    before = with_metadata(version(3), annotations={"team": "a"}, labels={"tier": "web"})
    plan = undo(before)

    assert replace(plan.workload, spec=before.spec) == before


def test_an_undo_can_resume_cities():
    """Those that the undone change had paused; pauses of others stay."""
    held = paused(version(3), ("DFW", "LHR"))
    plan = undo(held, resumes=("LHR", "SIN"))

    assert plan.workload == paused(undo(version(3)).workload, ("DFW",))
    assert plan.paused == ("DFW",)
