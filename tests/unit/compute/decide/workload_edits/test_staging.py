"""Changes that reach some cities first: what is written, and what is refused."""

import pytest
from msgspec.structs import replace

from compute.api import annotations
from compute.api.compute import Placement, Workload
from compute.decide.overrides import paused, paused_cities, pinned
from compute.decide.workload_edits import FlagError
from compute.decide.workload_edits.staging import Staging, StagingFlags, staged
from kubekit.api.meta import with_spec
from tests.support.compute.builders import placement, template, workload

HOME = placement("home", "DFW", "LHR", "SIN")


def version(number: int, *placements: Placement) -> Workload:
    return workload("web", *(placements or (HOME,)), template=template(f"web:{number}"))


def after(number: int, *order: str, of: Workload | None = None) -> Staging:
    return staged(version(1), of or version(2), StagingFlags(number, order))


def refused(
    number: int, *order: str, of: Workload | None = None, existing: Workload | None = None
) -> str:
    with pytest.raises(FlagError) as error:
        staged(existing or version(1), of or version(2), StagingFlags(number, order))
    return str(error.value)


@pytest.mark.parametrize(
    ("number", "order", "first", "waiting"),
    [
        (1, (), ("DFW",), ("LHR", "SIN")),
        (2, (), ("DFW", "LHR"), ("SIN",)),
        (1, ("SIN",), ("SIN",), ("DFW", "LHR")),
        (2, ("SIN", "LHR", "DFW"), ("SIN", "LHR"), ("DFW",)),
    ],
)
def test_the_other_cities_are_paused_by_the_same_write(number, order, first, waiting):
    """In the order that is asked for, else in that of the spec."""
    done = after(number, *order)

    assert (done.first, done.waiting) == (first, waiting)
    assert done.workload == paused(version(2), waiting)
    assert set(paused_cities(done.workload)) == set(waiting)


@pytest.mark.parametrize("number", [3, 9])
def test_a_change_that_reaches_all_cities_pauses_none(number):
    """It is an ordinary deploy."""
    assert after(number) == Staging(version(2), ("DFW", "LHR", "SIN"))


def test_without_another_template_nothing_is_paused():
    """Neither by a deploy without changes, nor by other numbers, which a pause does not hold back."""
    scaled = version(1, replace(HOME, scale_settings=placement(replicas=4).scale_settings))

    assert after(1, of=version(1)) == Staging(version(1))
    assert after(1, of=scaled) == Staging(scaled)


def test_an_unchanged_object_stays_the_same():
    """That nothing changes is seen by identity."""
    web = version(1)

    assert staged(web, web, StagingFlags(1)).workload is web


def test_cities_that_are_paused_stay_so():
    """A pause by the user is not lost, and is not repeated."""
    held = paused(version(2), ("SIN",))

    assert after(1, of=held).workload == paused(version(2), ("LHR", "SIN"))
    assert after(1, of=held).waiting == ("LHR", "SIN")


def test_a_pin_that_the_change_ends_is_a_change():
    """The city that ran an earlier version takes part in the stages."""
    existing = pinned(version(2), {"LHR": (1, template("web:1"))})
    wanted = with_spec(existing, template=template("web:3"))

    assert staged(existing, wanted, StagingFlags(1)).waiting == ("LHR", "SIN")


def test_a_new_workload_has_nothing_to_hold_back():
    """The flag is refused, and nothing runs anywhere."""
    with pytest.raises(FlagError) as error:
        staged(None, version(1), StagingFlags(1))

    assert str(error.value) == (
        "--pause-after: web is new, so no city runs an earlier version to keep; leave it out"
    )


@pytest.mark.parametrize(
    ("city", "hint"),
    [("LHX", "did you mean LHR? it runs in DFW, LHR, SIN"), ("ZZZZZ", "it runs in DFW, LHR, SIN")],
)
def test_the_order_names_cities_of_the_workload(city, hint):
    """Also where nothing would be paused, since it is a typing error."""
    sentence = f"--city-order: web does not run in {city}: {hint}"

    assert refused(1, "SIN", city) == sentence
    assert refused(9, city, of=version(1)) == sentence


def test_a_first_city_that_is_paused_is_refused():
    """To resume it there was not asked for, and the change would not get there."""
    sentence = (
        "--pause-after: web is paused in {}, so the change would not get there; resume it, or name "
        "other cities first with --city-order"
    )

    assert refused(2, of=paused(version(2), ("LHR",))) == sentence.format("LHR")
    assert refused(9, of=paused(version(2), ("LHR",))) == sentence.format("LHR")
    assert refused(2, of=paused(version(2))) == sentence.format("DFW, LHR")
    assert after(2, "DFW", "SIN", of=paused(version(2), ("LHR",))).waiting == ("LHR",)


@pytest.mark.parametrize(
    "wanted",
    [
        version(2, placement("home", "DFW", "LHR", "SIN", "NRT")),
        version(2, HOME, placement("away", "SIN")),
    ],
    ids=["a city", "a placement"],
)
def test_new_instances_would_not_wait(wanted):
    """A pause holds back the template of what runs; where nothing runs, it holds back nothing."""
    city = "NRT" if len(wanted.spec.placements) == 1 else "SIN"

    assert refused(1, of=wanted) == (
        f"--pause-after: new instances in {city} would start with the change, since no earlier version "
        "runs there; name such a city first with --city-order, or add it in a deploy of its own"
    )
    assert city in after(1, city, of=wanted).first


def test_other_annotations_stay():
    """The write has one more annotation."""
    done = after(1).workload

    assert done.metadata.annotations == {annotations.PAUSED_CITIES: "LHR,SIN"}
    assert done.spec == version(2).spec
