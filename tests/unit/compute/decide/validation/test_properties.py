"""Laws of validation, over Workloads and documents of every kind."""

from datetime import UTC, datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from hypothesis import given, settings, strategies as st

from compute.api import names
from compute.api.compute import Workload, WorkloadSpec
from compute.decide.validation import review_document, validate, with_defaults
from kubekit.api.meta import NAME_LIMIT, ObjectMeta
from kubekit.api.selectors import label_syntax
from tests.support.compute.validation_builders import CITIES, changed, decoded, machine, sandbox
from tests.support.generated import depth

WORDS = st.sampled_from(
    ["", "DFW", "dfw", "home", "data", "/mnt", "10Gi", "cpu", "ext4", "http", "80", "10.0.0.0/8"]
) | st.text(max_size=6)
NUMBERS = st.sampled_from([-1, 0, 1, 1000, 70000, 2**40])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
SCALARS = {
    str: WORDS,
    int: NUMBERS,
    bool: st.booleans(),
    datetime: st.datetimes(timezones=st.just(UTC)),
    NoneType: st.none(),
    Any: JSON,
}


def anything_of(annotation: Any) -> st.SearchStrategy[Any]:
    """Every value that a field of this type can be decoded to."""
    if annotation in SCALARS:
        return SCALARS[annotation]
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        parts = {f.name: anything_of(f.type) for f in msgspec.structs.fields(annotation)}
        return st.builds(annotation, **parts)
    return COMPOSED[get_origin(annotation)](*get_args(annotation))


def _one_of(*choices: Any) -> st.SearchStrategy[Any]:
    return st.one_of(*map(anything_of, choices))


COMPOSED = {
    Annotated: lambda inner, *_: anything_of(inner),
    Union: _one_of,
    UnionType: _one_of,
    tuple: lambda item, _: st.lists(anything_of(item), max_size=2).map(tuple),
    dict: lambda _, value: st.dictionaries(WORDS, anything_of(value), max_size=2),
}
WORKLOADS = st.builds(Workload, metadata=anything_of(ObjectMeta), spec=anything_of(WorkloadSpec))

LABELS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True)
OFFERED = st.frozensets(st.from_regex(r"[A-Za-z]{1,63}", fullmatch=True), min_size=1, max_size=4)


@st.composite
def right_documents(draw: st.DrawFn) -> tuple[dict[str, Any], frozenset[str]]:
    """A document without a mistake, and the cities it may name."""
    offered = draw(OFFERED)
    distinct = sorted({city.casefold(): city for city in sorted(offered)}.values())
    placements = [
        {
            "name": name,
            "cityCodes": draw(st.lists(st.sampled_from(distinct), min_size=1, unique=True)),
            "scaleSettings": {"minReplicas": draw(st.integers(1, 1000))},
        }
        for name in draw(st.lists(LABELS, min_size=1, max_size=3, unique=True))
    ]
    document = draw(st.sampled_from([sandbox(), machine()]))
    changes = {"metadata/name": draw(LABELS), "spec/placements": placements}
    return changed(document, changes), offered


@st.composite
def mutated_documents(draw: st.DrawFn) -> dict[str, Any]:
    """A right document with something else in one or two of its places."""
    document = draw(st.sampled_from([sandbox(), machine()]))
    for _ in range(draw(st.integers(1, 2))):
        path = draw(st.sampled_from(sorted(_paths(document))))
        document = changed(document, {path: draw(JSON)})
    return document


def _paths(value: Any, prefix: str = "") -> list[str]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    found = []
    for key, part in inner:
        if isinstance(key, int) or (key and "/" not in key and not key.isdigit()):
            found += [f"{prefix}{key}", *_paths(part, f"{prefix}{key}/")]
    return found


@settings(max_examples=depth.examples(60))
@given(WORKLOADS, st.frozensets(WORDS, max_size=3), st.none() | WORKLOADS)
def test_no_workload_is_too_strange_to_review(workload, cities, old):
    """Whatever was decoded, the answer is a list of errors that can be shown."""
    review = validate(with_defaults(workload), cities=cities, old=old)

    assert all(str(error).startswith(error.path) for error in review.errors)


@settings(max_examples=depth.examples(150))
@given(mutated_documents(), st.none() | st.just(decoded(sandbox())))
def test_no_document_is_too_strange_to_review(document, old):
    """Whatever was written, the answer is a list of errors that can be shown, each of them once."""
    shown = [str(error) for error in review_document(document, cities=CITIES, old=old).errors]

    assert len(shown) == len(set(shown))


@settings(max_examples=depth.examples(100))
@given(right_documents())
def test_what_is_right_stays_right(right):
    """A Workload that was taken is taken again as its own update, and asks for nothing."""
    document, offered = right
    workload = decoded(document)

    assert review_document(document, cities=offered).errors == ()
    again = validate(workload, cities=offered, old=workload)
    assert (again.errors, again.networks) == ((), ())


@settings(max_examples=depth.examples(100))
@given(right_documents())
def test_w45_every_name_made_from_a_right_workload_fits(right):
    """Deployments, Instances, claims and histories get names and labels that servers take."""
    document, _ = right
    workload = document["metadata"]["name"]
    assert len(names.history(workload)) <= NAME_LIMIT
    for placement in document["spec"]["placements"]:
        for city in placement["cityCodes"]:
            deployment = names.deployment(workload, placement["name"], city)
            last = names.instance(deployment, 2**31 - 1)
            labels = (workload, placement["name"], city, deployment, last)
            assert [value for value in labels if label_syntax.value_fault(value)] == []
            assert len(names.claim(last)) <= NAME_LIMIT
