"""Laws of what a user sets for single cities, over annotations and specs of many kinds."""

import json
from typing import Any

from hypothesis import given, settings, strategies as st

from compute.api import annotations
from compute.api.compute import Workload
from compute.api.instance_spec import InstanceTemplate
from compute.decide import overrides
from compute.decide.deployment.template import restamped, unstamped_hash
from compute.decide.overrides import CityTemplates
from compute.decide.validation import validate
from compute.decide.workload import placement as placing
from kubekit.api.meta import with_metadata, with_spec
from tests.support.compute.builders import NOW, placement, template, workload
from tests.support.generated import depth

CITIES = ("DFW", "LHR", "SIN")
ELSEWHERE = ("NRT", "OSL")  # of no spec
STAMPS = st.sampled_from(
    (
        "2026-05-01T12:00:00Z",
        "2026-06-01T12:00:00Z",
        "2026-06-01T12:00:00.5Z",
        "2026-06-01T15:00:00+02:00",
        "2030-01-01T00:00:00Z",
        "soon",
        "",
    )
)
TEMPLATES = st.builds(
    lambda number, stamp: restamped(template(f"registry.test/web:{number}"), stamp),
    st.integers(1, 3),
    st.none() | STAMPS,
)
NAMES = st.builds(
    "web-home-{}-{}".format, st.sampled_from(("dfw", "lhr", "nrt")), st.integers(0, 4)
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | STAMPS | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(("DFW", "template", "spec", "instead", "metadata", "x")),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
CHOSEN = st.sets(st.sampled_from(CITIES)).map(sorted)
SOME = st.sets(st.sampled_from(CITIES), min_size=1).map(sorted)
RULES = settings(max_examples=depth.examples(100), deadline=None)


def pin(pinned: InstanceTemplate, instead: InstanceTemplate) -> dict[str, Any]:
    """The entry of a city that was pinned while the Workload had the other template."""
    made = workload("web", placement("home", "DFW"), template=template("registry.test/none:0"))
    text = overrides.pinned(made, {"DFW": (1, pinned)}).metadata.annotations
    entry: dict[str, Any] = json.loads(text[annotations.CITY_TEMPLATES])["DFW"]
    return entry | {"instead": unstamped_hash(instead)}


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    """A Workload in some cities, with annotations that are right, old, of other cities, or absent."""
    cities = draw(SOME)
    made = workload(
        "web",
        placement("home", *cities, replicas=draw(st.integers(1, 3))),
        template=draw(TEMPLATES),
    )
    anywhere = st.sampled_from((*CITIES, *ELSEWHERE))
    pins = st.builds(pin, TEMPLATES, st.just(made.spec.template) | TEMPLATES)
    known = {
        annotations.PAUSED: draw(st.sampled_from((None, "true", "false"))),
        annotations.PAUSED_CITIES: draw(st.none() | st.lists(anywhere).map(",".join)),
        annotations.RESTARTED_CITIES: draw(_objects(anywhere, STAMPS | ANYTHING)),
        annotations.CITY_TEMPLATES: draw(_objects(anywhere, pins | ANYTHING)),
        annotations.REPLACED_INSTANCES: draw(_objects(NAMES, STAMPS | ANYTHING)),
    }
    return with_metadata(made, annotations={k: v for k, v in known.items() if v is not None})


def _objects(names: st.SearchStrategy[str], values: st.SearchStrategy[Any]) -> Any:
    broken = st.sampled_from(("", "{", "[]", "null", "{}", "[" * 5000, '{"DFW":' * 5000))
    return st.none() | broken | st.dictionaries(names, values, max_size=4).map(json.dumps)


def templates_of(present: Workload) -> dict[str, InstanceTemplate]:
    templates = CityTemplates(present)
    return {city: templates.of(city) for city in CITIES}


def hashes_of(present: Workload) -> dict[str, str]:
    templates = CityTemplates(present)
    return {city: templates.hash_of(city) for city in present.spec.placements[0].city_codes}


@RULES
@given(workloads(), CHOSEN)
def test_paused_and_resumed_are_inverse_per_city(present, chosen):
    """Each changes exactly the chosen cities, and nothing but pauses."""
    before, spec = set(overrides.paused_cities(present)), present.spec.placements[0].city_codes
    meant = set(chosen or spec) & set(spec)

    held = overrides.paused(present, chosen)
    assert set(overrides.paused_cities(held)) == before | meant
    freed = overrides.resumed(held, chosen)
    assert set(overrides.paused_cities(freed)) == (before | meant) - meant

    assert overrides.paused(held, chosen) == held
    assert overrides.resumed(freed, chosen) == freed
    assert templates_of(freed) == templates_of(present)
    assert freed.spec == present.spec


@RULES
@given(workloads(), CHOSEN)
def test_a_restart_changes_exactly_the_templates_of_the_chosen_cities(present, chosen):
    """However old or unreadable the stamps are, and whether or not a city is pinned."""
    before, after = hashes_of(present), hashes_of(overrides.restarted(present, chosen, NOW))
    changed = {city for city in before if before[city] != after[city]}
    assert changed == (set(chosen) & set(before) if chosen else set(before))


@RULES
@given(workloads(), SOME, TEMPLATES, TEMPLATES)
def test_a_pin_holds_exactly_until_the_template_changes(present, chosen, pinned, newer):
    """A restart, a pause or a replacement in between does not end it."""
    spec = present.spec.placements[0].city_codes
    got = overrides.pinned(present, dict.fromkeys(chosen, (1, pinned)))
    got = overrides.restarted(overrides.paused(got), (), NOW)
    differs = unstamped_hash(pinned) != unstamped_hash(present.spec.template)
    for city in set(chosen) & set(spec):
        assert CityTemplates(got).is_pinned(city) is differs
        assert unstamped_hash(overrides.template_for(got, city)) == unstamped_hash(pinned)

    changed = overrides.pruned(with_spec(got, template=newer))
    ended = unstamped_hash(newer) != unstamped_hash(present.spec.template)
    for city in set(chosen) & set(spec):
        assert CityTemplates(changed).is_pinned(city) is (differs and not ended)
        if ended:
            assert unstamped_hash(overrides.template_for(changed, city)) == unstamped_hash(newer)


@RULES
@given(workloads())
def test_pruning_is_idempotent_and_changes_nothing_that_counts(present):
    """No template, pause or request of a city that the spec has."""
    got = overrides.pruned(present)
    assert overrides.pruned(got) == got
    assert got.spec == present.spec
    assert hashes_of(got) == hashes_of(present)
    assert overrides.paused_cities(got) == overrides.paused_cities(present)
    assert _split(got) == _split(present)


@RULES
@given(workloads())
def test_nothing_that_remains_after_pruning_is_without_effect(present):
    """So there is no warning about it."""
    assert validate(overrides.pruned(present), cities=CITIES).warnings == ()


@RULES
@given(workloads(), st.sets(NAMES, max_size=3))
def test_a_request_changes_only_the_deployments_of_its_instances(present, chosen):
    """No template, and no deployment of other Instances."""
    pruned = overrides.pruned(present)
    got = overrides.replaced(pruned, chosen, NOW)
    before, after = _split(pruned), _split(got)
    assert before.keys() == after.keys()
    asked = {name.rpartition("-")[0] for name in chosen if overrides.can_be_replaced(present, name)}
    assert {name for name in before if before[name] != after[name]} == asked


@RULES
@given(workloads(), st.sampled_from((*CITIES, *ELSEWHERE)), ANYTHING.map(json.dumps) | st.text())
def test_no_annotation_stops_anything(present, city, text):
    """Whatever is written, every city has a template, and the Workload can be reviewed and split."""
    keys = (
        annotations.PAUSED_CITIES,
        annotations.RESTARTED_CITIES,
        annotations.CITY_TEMPLATES,
        annotations.REPLACED_INSTANCES,
    )
    for key in keys:
        odd = with_metadata(present, annotations=present.metadata.annotations | {key: text})
        assert overrides.template_for(odd, city).spec.runtime.sandbox is not None
        assert _split(odd).keys() == _split(present).keys()
        validate(odd, cities=CITIES, old=present)


def _split(present: Workload) -> dict[str, object]:
    """Each deployment: its spec, its pause, and the requests for Instances that it can have."""
    made = placing.split(present, (), CITIES, NOW).create
    return {d.metadata.name: (d.spec, _settings(present, d.metadata.annotations)) for d in made}


def _settings(present: Workload, known: dict[str, str]) -> tuple[str | None, dict[str, str]]:
    requests = json.loads(known.get(annotations.REPLACED_INSTANCES, "{}"))
    fitting = {n: s for n, s in requests.items() if overrides.can_be_replaced(present, n)}
    return known.get(annotations.PAUSED), fitting
