"""What commands have changed in a running Workload, as users read it."""

from compute.decide.overrides import paused, resumed
from compute.decide.workload import history
from compute.decide.workload.undo_plan import UndoChoice, UndoPlan, plan_undo
from compute.views.changes import UndoStepView, pause_view, restart_view, undo_view
from kubekit.api.kinds.core import ConfigMap
from tests.support.compute.builders import NOW, placement, template, workload

HOME = placement("home", "DFW", "LHR")
OLD = workload("web", HOME, template=template("web:1"))
NEW = workload("web", HOME, template=template("web:2"))


def test_an_undo():
    """Each step with its cities, its revision and its changes."""
    known = history.record(ConfigMap(), OLD, "jo", NOW)
    assert known is not None
    plan = plan_undo(paused(NEW, ("LHR",)), history.record(known, NEW, "jo", NOW), UndoChoice(to=1))
    assert isinstance(plan, UndoPlan)
    view = undo_view(plan, written=True)

    assert (view.name, view.paused_cities, view.unchanged_cities) == ("web", ("LHR",), ())
    assert view.written
    assert view.steps == (
        UndoStepView(
            cities=("DFW", "LHR"),
            revision=1,
            timestamp="2026-06-01T12:00:00Z",
            actor="jo",
            image="web:1",
            changes=("image: web:2 → web:1",),
        ),
    )


def test_a_restart():
    """Of all cities, of some, or of single Instances; paused cities wait."""
    of = paused(NEW, ("LHR",))

    assert restart_view(of).cities == ("DFW", "LHR")
    assert restart_view(of).paused_cities == ("LHR",)
    assert restart_view(of, ("DFW",)).paused_cities == ()
    assert restart_view(of, instances=("web-home-lhr-0",)).cities == ()


def test_a_pause():
    """The cities that the command has changed, and those that are paused then."""
    some = paused(NEW, ("LHR",))
    view = pause_view(NEW, some)

    assert (view.paused_cities, view.changed_cities) == (("LHR",), ("LHR",))
    assert pause_view(some, paused(some)).changed_cities == ("DFW",)
    assert pause_view(paused(NEW), resumed(paused(NEW), ("DFW",))).paused_cities == ("LHR",)
    assert pause_view(some, some).changed_cities == ()
