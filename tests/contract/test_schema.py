"""What a kind's schema does to a document: defaults, dropped fields, refusals."""

from typing import Any

import pytest

from kubekit.api.errors import ApiError, BadRequest, Invalid
from tests.contract.collection import Collection
from tests.contract.kinds import RED


async def causes(widgets: Collection, spec: Any) -> set[tuple[str, str]]:
    """What the server says of each field of a spec; it must say it of an update alike."""
    with pytest.raises(Invalid) as refusal:
        await widgets.make("bad", spec=spec)
    made = await widgets.make("good", spec=RED)
    with pytest.raises(Invalid):
        await widgets.update(made | {"spec": spec})
    details = refusal.value.details
    assert details is not None
    assert (details.kind, details.group) == ("Widget", "contract.datumapis.com")
    return {(cause.field.lstrip("."), cause.reason) for cause in details.causes}


async def test_defaults_are_filled_in(widgets: Collection):
    """Fields that were left out get their default, also inside of objects and lists."""
    spec = RED | {"parts": [{"name": "p"}, {"name": "q", "size": 5}]}
    made = await widgets.make("one", spec=spec)
    assert made["spec"] == {
        "colour": "red",
        "enabled": True,
        "options": {"mode": "fast"},
        "parts": [{"name": "p", "size": 1}, {"name": "q", "size": 5}],
    }


async def test_a_default_does_not_replace_a_value(widgets: Collection):
    """What was said is kept, even if it is false or empty."""
    spec = RED | {"enabled": False, "options": {"mode": ""}}
    made = await widgets.make("one", spec=spec)
    assert made["spec"]["enabled"] is False
    assert made["spec"]["options"] == {"mode": ""}


async def test_an_object_that_is_there_gets_its_own_defaults(widgets: Collection):
    """Defaults go into an object that says something else."""
    made = await widgets.make("one", spec=RED | {"options": {"depth": 3}})
    assert made["spec"]["options"] == {"depth": 3, "mode": "fast"}


async def test_null_means_the_default(widgets: Collection):
    """A null where the schema has a default and allows no null is as good as absent."""
    made = await widgets.make("one", spec=RED | {"enabled": None})
    assert made["spec"]["enabled"] is True


async def test_null_means_absent(widgets: Collection):
    """A null where the schema allows none is dropped."""
    made = await widgets.make("one", spec=RED | {"title": None, "words": {"a": "b"}})
    assert "title" not in made["spec"]


async def test_null_is_kept_where_it_is_allowed(widgets: Collection):
    """A nullable field can be null."""
    made = await widgets.make("one", spec=RED | {"note": None})
    assert made["spec"]["note"] is None


async def test_unknown_fields_are_dropped(widgets: Collection):
    """What the schema does not know is not stored, at any depth."""
    spec = RED | {"shape": "round", "options": {"x": 1}, "parts": [{"name": "p", "y": 2}]}
    document = widgets.document("one", spec=spec) | {"extra": True}
    made = await widgets.create(document)
    assert "extra" not in made
    assert "shape" not in made["spec"]
    assert made["spec"]["options"] == {"mode": "fast"}
    assert made["spec"]["parts"] == [{"name": "p", "size": 1}]


async def test_unknown_fields_are_kept_where_the_schema_says_so(widgets: Collection):
    """A free object holds anything."""
    free = {"a": [1, {"b": None}], "c": {"d": 1.5}}
    made = await widgets.make("one", spec=RED | {"anything": free})
    assert made["spec"]["anything"] == free


REFUSED: dict[str, tuple[Any, dict[str, str]]] = {
    "required": ({}, {"spec.colour": "FieldValueRequired"}),
    "enum": ({"colour": "mauve"}, {"spec.colour": "FieldValueNotSupported"}),
    "type text": ({"colour": 7}, {"spec.colour": "FieldValueTypeInvalid"}),
    "type number": (RED | {"replicas": "3"}, {"spec.replicas": "FieldValueTypeInvalid"}),
    "fraction": (RED | {"replicas": 1.5}, {"spec.replicas": "FieldValueTypeInvalid"}),
    "type boolean": (RED | {"enabled": "yes"}, {"spec.enabled": "FieldValueTypeInvalid"}),
    "type object": (RED | {"words": ["a"]}, {"spec.words": "FieldValueTypeInvalid"}),
    "type list": (RED | {"tags": "a"}, {"spec.tags": "FieldValueTypeInvalid"}),
    "minimum": (RED | {"replicas": -1}, {"spec.replicas": "FieldValueInvalid"}),
    "maximum": (RED | {"replicas": 1001}, {"spec.replicas": "FieldValueInvalid"}),
    "exclusive": (RED | {"weight": 0}, {"spec.weight": "FieldValueInvalid"}),
    "too short": (RED | {"title": "a"}, {"spec.title": "FieldValueInvalid"}),
    "too long": (RED | {"title": "abcdefghijk"}, {"spec.title": "FieldValueTooLong"}),
    "pattern": (RED | {"title": "ABC"}, {"spec.title": "FieldValueInvalid"}),
    "line end": (RED | {"title": "abc\n"}, {"spec.title": "FieldValueInvalid"}),
    "too many": (RED | {"tags": ["a", "b", "c", "d"]}, {"spec.tags": "FieldValueTooMany"}),
    "twice": (RED | {"tags": ["a", "a"]}, {"spec.tags[1]": "FieldValueDuplicate"}),
    "key twice": (
        RED | {"parts": [{"name": "p"}, {"name": "p"}]},
        {"spec.parts[1]": "FieldValueDuplicate"},
    ),
    "in a list": (RED | {"parts": [{"size": 1}]}, {"spec.parts[0].name": "FieldValueRequired"}),
    "in a map": (RED | {"words": {"a": 1}}, {"spec.words.a": "FieldValueTypeInvalid"}),
    "neither": (RED | {"port": True}, {"spec.port": "FieldValueTypeInvalid"}),
    "null": ({"colour": None}, {"spec.colour": "FieldValueRequired"}),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_wrong_value_is_refused_by_its_field(widgets: Collection, case: str):
    """The refusal carries a cause with the field's path and what is wrong with it."""
    spec, expected = REFUSED[case]
    found = await causes(widgets, spec)
    assert expected.items() <= found


async def test_all_errors_are_reported_at_once(widgets: Collection):
    """A user corrects a document once, not once for each mistake."""
    found = await causes(widgets, {"replicas": -1, "title": "ABC"})
    assert {field for field, _ in found} == {"spec.colour", "spec.replicas", "spec.title"}


async def test_a_spec_that_is_missing(widgets: Collection):
    """A required part of the document is named."""
    with pytest.raises(Invalid) as refusal:
        await widgets.make("one")
    assert "spec: Required value" in refusal.value.message


async def test_a_refusal_reads_like_a_sentence(widgets: Collection):
    """Kind, name, field, value and what would be right."""
    with pytest.raises(Invalid) as refusal:
        await widgets.make("one", spec={"colour": "mauve"})
    assert refusal.value.message == (
        'Widget.contract.datumapis.com "one" is invalid: spec.colour: '
        'Unsupported value: "mauve": supported values: "red", "green", "blue"'
    )


@pytest.mark.parametrize(
    "spec",
    [
        {"replicas": 0},
        {"replicas": 1000},
        {"weight": 0.001},
        {"weight": 7},
        {"title": "ab"},
        {"title": "abcdefghij"},
        {"port": 80},
        {"port": "http"},
        {"tags": []},
        {"tags": ["a", "b", "c"]},
        {"words": {}},
        {"anything": {}},
        {"big": 9223372036854775807},
        {"big": -9223372036854775808},
    ],
    ids=str,
)
async def test_values_on_the_edge_are_taken(widgets: Collection, spec: dict[str, Any]):
    """What the schema just allows is stored as it was said."""
    made = await widgets.make("one", spec=RED | spec)
    [(field, value)] = spec.items()
    assert made["spec"][field] == value


async def test_strictness_refuses_unknown_fields(widgets: Collection):
    """With strict validation every field that would be dropped is reported."""
    document = widgets.document("one", spec=RED | {"shape": "round", "options": {"x": 1}})
    with pytest.raises(BadRequest) as refusal:
        await widgets.create(document, field_validation="Strict")
    assert "strict decoding error" in refusal.value.message
    assert 'unknown field "spec.shape"' in refusal.value.message
    assert 'unknown field "spec.options.x"' in refusal.value.message


@pytest.mark.parametrize("how", ["Warn", "Ignore", ""])
async def test_otherwise_unknown_fields_are_dropped(widgets: Collection, how):
    """Without strictness an unknown field is no fault."""
    document = widgets.document("one", spec=RED | {"shape": "round"})
    made = await widgets.create(document, field_validation=how)
    assert "shape" not in made["spec"]


async def test_strictness_holds_for_updates_and_patches(widgets: Collection):
    """Every write can be strict."""
    made = await widgets.make("one", spec=RED)
    wrong = RED | {"shape": "round"}
    with pytest.raises(BadRequest):
        await widgets.update(made | {"spec": wrong}, field_validation="Strict")
    with pytest.raises(ApiError) as refusal:
        await widgets.merge("one", {"spec": {"shape": "round"}}, field_validation="Strict")
    assert refusal.value.code in (400, 422)
    assert 'unknown field "spec.shape"' in refusal.value.message
    assert await widgets.get("one") == made


async def test_strictness_has_three_names(widgets: Collection):
    """Another word is refused, and the parameter named."""
    with pytest.raises((Invalid, BadRequest)) as refusal:
        await widgets.create(widgets.document("one", spec=RED), field_validation="Very")
    assert "fieldValidation" in refusal.value.message


async def test_numbers_keep_their_kind(widgets: Collection):
    """An integer comes back as one, a fraction as a fraction."""
    made = await widgets.make("one", spec=RED | {"replicas": 3, "weight": 2.5})
    assert repr(made["spec"]["replicas"]) == "3"
    assert made["spec"]["weight"] == 2.5


async def test_texts_are_not_changed(widgets: Collection):
    """Every character of a text comes back."""
    words = {"plain": "a", "odd": 'ä漢🙂\u2028\u0001\t"\\/<>&', "empty": ""}
    made = await widgets.make("one", spec=RED | {"words": words})
    assert (await widgets.get("one"))["spec"]["words"] == made["spec"]["words"] == words
