"""Documents that cannot be: always refused, never the server's fault, nothing stored."""

import math
from typing import Any

import pytest

from kubekit.api.errors import ApiError, BadRequest
from kubekit.client.options import ListOptions, PatchType
from tests.contract.collection import Collection, names
from tests.contract.kinds import RED


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


async def refused(widgets: Collection, document: Any) -> ApiError:
    """The refusal of a create. Whatever is wrong, the namespace stays empty."""
    with pytest.raises(ApiError) as refusal:
        await widgets.create(document)
    assert names(await widgets.list()) == []
    return refusal.value


@pytest.mark.parametrize("document", [None, 7, "text", [], [{}], True, {}], ids=str)
async def test_a_body_is_an_object(widgets: Collection, document: Any):
    """Anything else has no kind."""
    assert (await refused(widgets, document)).code == 400


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf], ids=str)
async def test_d3_numbers_are_finite(widgets: Collection, number: float):
    """JSON has no word for others."""
    document = widgets.document("one", spec=RED | {"anything": {"x": [number]}})
    assert (await refused(widgets, document)).code == 400


@pytest.mark.parametrize("number", [math.nan, math.inf], ids=str)
@pytest.mark.parametrize("kind", [PatchType.MERGE, PatchType.JSON])
async def test_d3_numbers_of_patches_are_finite(
    widgets: Collection, kind: PatchType, number: float
):
    """A patch is read like a document."""
    made = await widgets.make("one", spec=RED)
    patch: Any = {"spec": {"weight": number}}
    if kind == PatchType.JSON:
        patch = [{"op": "add", "path": "/spec/weight", "value": number}]
    with pytest.raises(BadRequest):
        await widgets.patch("one", kind, patch)
    assert await widgets.get("one") == made


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30])
async def test_d3_integers_have_64_bits(widgets: Collection, number: int):
    """A larger one would come back as another."""
    document = widgets.document("one", spec=RED | {"big": number})
    assert (await refused(widgets, document)).code in (400, 422)


async def test_d2_brackets_in_a_text_are_no_depth(widgets: Collection):
    """A text may hold another document, however deep."""
    deep = '{"a":' * 20_000 + "1" + "}" * 20_000
    made = await widgets.make("one", metadata={"annotations": {"deep": deep}}, spec=RED)
    assert made["metadata"]["annotations"]["deep"] == deep


async def test_d2_moderate_nesting_is_taken(widgets: Collection):
    """Depth alone is no fault."""
    made = await widgets.make("one", spec=RED | {"anything": nested(100)})
    assert made["spec"]["anything"] == nested(100)


async def test_d1_a_large_object_is_refused(widgets: Collection):
    """More than 3 MiB are not read."""
    words = {f"k{i}": "x" * 100_000 for i in range(40)}
    assert (
        await refused(widgets, widgets.document("one", spec=RED | {"words": words}))
    ).code == 413


async def test_a_hundred_kilobytes_are_taken(widgets: Collection):
    """An object may be large."""
    words = {"long": "x" * 100_000}
    made = await widgets.make("one", spec=RED | {"words": words})
    assert made["spec"]["words"] == words


@pytest.mark.parametrize(
    "spec", [None, 7, "text", [], True, [RED], {"colour": RED}, {"colour": [RED]}], ids=str
)
async def test_a_spec_of_another_shape(widgets: Collection, spec: Any):
    """The refusal names the field."""
    refusal = await refused(widgets, widgets.document("one", spec=spec))
    assert refusal.code in (400, 422)
    assert "spec" in refusal.message


@pytest.mark.parametrize("kind", [7, None, "", ["Widget"], {"a": 1}], ids=str)
@pytest.mark.parametrize("field", ["kind", "apiVersion"])
async def test_a_kind_of_another_type(widgets: Collection, field: str, kind: Any):
    """What says the kind is a text."""
    document = widgets.document("one", spec=RED) | {field: kind}
    assert (await refused(widgets, document)).code in (400, 422)


@pytest.mark.parametrize("name", [7, True, ["a"], {"a": "b"}], ids=str)
async def test_a_name_of_another_type(widgets: Collection, name: Any):
    """A name is a text."""
    document = widgets.document("one", spec=RED)
    document["metadata"]["name"] = name
    assert (await refused(widgets, document)).code in (400, 422)


@pytest.mark.parametrize("time", ["yesterday", 7, "2026-13-01T00:00:00Z", ""], ids=str)
async def test_a_time_that_is_none(widgets: Collection, time: Any):
    """A timestamp that cannot be read is either refused or, as the server's own, replaced."""
    document = widgets.document("one", metadata={"creationTimestamp": time}, spec=RED)
    try:
        made = await widgets.create(document)
    except ApiError as refusal:
        assert refusal.code in (400, 422)  # noqa: PT017 - both ways are right
    else:
        assert made["metadata"]["creationTimestamp"].startswith("20")


@pytest.mark.parametrize(
    "selector", ["a=" + "x" * 64, "a in (" + "b," * 2000, "é=1", "a=b,,c=d", "((("]
)
async def test_a_selector_of_nonsense(widgets: Collection, selector: str):
    """It is refused wherever it is used; a delete by it deletes nothing."""
    await widgets.make("one", spec=RED)
    with pytest.raises(BadRequest):
        await widgets.list(label_selector=selector)
    with pytest.raises(BadRequest):
        await widgets.clear(ListOptions(label_selector=selector))
    assert names(await widgets.list()) == ["one"]


async def test_the_server_goes_on_after_all_that(widgets: Collection):
    """A refused request leaves no trace on the next one."""
    wrong: list[Any] = [None, [], {"kind": 7}, widgets.document("x", spec={"colour": math.nan})]
    for document in wrong:
        await refused(widgets, document)
    assert (await widgets.make("one", spec=RED))["metadata"]["name"] == "one"
