"""What a change does in each city, and the quota that it needs."""

from compute.api import annotations
from compute.decide.workload.preview import Need
from compute.decide.workload_edits import Effect, effects
from compute.decide.workload_edits.city_effects import total
from kubekit.api.meta import with_metadata, with_spec
from tests.support.compute.builders import placement, template, workload


def _seen(existing, wanted):
    return [(e.city, e.effect, e.before, e.after) for e in effects(existing, wanted)]


def test_a_new_workload_is_created_everywhere():
    """The quota of all Instances is needed."""
    found = effects(None, workload("web", placement("home", "DFW", "LHR", replicas=2)))

    assert [(e.city, e.effect, e.before, e.after) for e in found] == [
        ("DFW", Effect.CREATE, 0, 2),
        ("LHR", Effect.CREATE, 0, 2),
    ]
    assert total(e.need for e in found) == Need(4, 4000, 8192)
    assert total(e.held for e in found) == Need()


def test_every_effect_of_an_update():
    """A city that is left comes last."""
    before = workload("web", placement("home", "DFW", "LHR"))

    assert _seen(before, before) == [("DFW", Effect.KEEP, 1, 1), ("LHR", Effect.KEEP, 1, 1)]
    assert _seen(before, workload("web", placement("home", "LHR", "SIN"))) == [
        ("LHR", Effect.KEEP, 1, 1),
        ("SIN", Effect.CREATE, 0, 1),
        ("DFW", Effect.REMOVE, 1, 0),
    ]
    assert _seen(before, workload("web", placement("home", "DFW", "LHR", replicas=2)))[0] == (
        "DFW", Effect.SCALE, 1, 2,
    )  # fmt: skip
    assert _seen(before, with_spec(before, template=template("web:2")))[0][1] is Effect.REPLACE


def test_the_quota_that_a_city_has_already_is_known():
    """An update needs only what is beyond it."""
    before = workload("web", placement("home", "DFW", replicas=3))
    (effect,) = effects(before, workload("web", placement("home", "DFW", replicas=1)))

    assert effect.need == Need(1, 1000, 2048)
    assert effect.held == Need(3, 3000, 6144)


def test_a_paused_city_is_marked():
    """The change waits there."""
    before = workload("web", placement("home", "DFW", "LHR"))
    paused = with_metadata(before, annotations={annotations.PAUSED_CITIES: "LHR"})

    assert [e.paused for e in effects(before, paused)] == [False, True]


def test_an_unknown_size_counts_instances_alone():
    """Nothing is guessed."""
    made = template()
    resources = made.spec.runtime.resources.__class__(instance_type="huge")
    runtime = made.spec.runtime.__class__(resources=resources, sandbox=made.spec.runtime.sandbox)
    inner = made.spec.__class__(runtime=runtime, network_interfaces=made.spec.network_interfaces)
    (effect,) = effects(None, workload(template=made.__class__(spec=inner)))

    assert effect.need == Need(1)
