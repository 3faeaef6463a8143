"""Reading collections: order, pages, selectors, versions."""

import pytest

from kubekit.api.errors import BadRequest, Expired, Invalid, Timeout
from tests.contract.collection import Collection, names, version
from tests.contract.kinds import RED
from tests.contract.servers import Forget


@pytest.fixture
def five(run, widgets: Collection) -> Collection:
    """Widgets a to e: colours red, green, red, green, red; labels n=0 to 4, odd ones marked."""

    async def fill():
        for number, name in enumerate("abcde"):
            labels = {"n": str(number)} | ({"odd": ""} if number % 2 else {})
            spec = {"colour": "green" if number % 2 else "red"}
            await widgets.make(name, metadata={"labels": labels}, spec=spec)

    run(fill())
    return widgets


async def test_an_empty_collection_is_a_list(widgets: Collection):
    """A list of nothing has a kind, a version and no items."""
    listing = await widgets.list()
    assert (listing["apiVersion"], listing["kind"]) == ("contract.datumapis.com/v1", "WidgetList")
    assert listing["items"] == []
    assert int(version(listing)) > 0


async def test_items_stand_in_order_of_their_names(widgets: Collection):
    """The order does not depend on who came first."""
    for name in ("b", "a-b", "c", "a", "a.b"):
        await widgets.make(name, spec=RED)
    assert names(await widgets.list()) == ["a", "a-b", "a.b", "b", "c"]


async def test_items_are_whole_objects(widgets: Collection):
    """A list holds what a get would answer."""
    made = await widgets.make("one", spec=RED)
    assert (await widgets.list())["items"] == [made]


async def test_a_list_is_of_one_namespace(five: Collection, space: str):
    """Without a namespace the objects of all namespaces are listed."""
    assert len((await five.list())["items"]) == 5
    everywhere = (await five.everywhere.list())["items"]
    assert len([item for item in everywhere if item["metadata"]["namespace"] == space]) == 5


async def test_a_namespace_that_is_a_beginning_of_another_is_another(widgets, transport):
    """Objects of ``contract-x`` are none of ``contract``."""
    await widgets.make("one", spec=RED)
    shorter = Collection(transport, widgets.resource, widgets.namespace[:-1])
    assert (await shorter.list())["items"] == []


SELECTORS = {
    "n=1": "b",
    "n==1": "b",
    "n!=1": "acde",
    "n in (1,2)": "bc",
    "n notin (1,2)": "ade",
    "odd": "bd",
    "!odd": "ace",
    "odd,n=3": "d",
    "odd=": "bd",
    "n>2": "de",
    "n<2": "ab",
    "absent=yes": "",
    "absent!=yes": "abcde",
    "": "abcde",
}


@pytest.mark.parametrize("selector", SELECTORS)
async def test_labels_select(five: Collection, selector: str):
    """Each form of a label selector chooses as written."""
    assert names(await five.list(label_selector=selector)) == list(SELECTORS[selector])


FIELDS = {
    "metadata.name=b": "b",
    "metadata.name!=b": "acde",
    "metadata.name==b": "b",
    "spec.colour=green": "bd",
    "spec.colour!=green": "ace",
    "spec.colour=green,metadata.name=d": "d",
    "status.phase=": "abcde",
    "status.phase=Up": "",
    "metadata.namespace=nowhere": "",
}


@pytest.mark.parametrize("selector", FIELDS)
async def test_fields_select(five: Collection, selector: str):
    """Name, namespace and the fields that the kind offers can be selected by."""
    assert names(await five.list(field_selector=selector)) == list(FIELDS[selector])


async def test_labels_and_fields_select_together(five: Collection):
    """Both selectors must agree."""
    listing = await five.list(label_selector="n<4", field_selector="spec.colour=red")
    assert names(listing) == ["a", "c"]


@pytest.mark.parametrize("selector", ["x in", "x in (a", "=a", "x=y=z", "-x", "x>a", "a b", ","])
async def test_a_label_selector_must_make_sense(widgets: Collection, selector: str):
    """A selector that cannot be read selects nothing silently: it is refused."""
    with pytest.raises(BadRequest):
        await widgets.list(label_selector=selector)


@pytest.mark.parametrize("selector", ["spec.title=abc", "metadata.labels=x", "nonsense=1"])
async def test_only_offered_fields_select(widgets: Collection, selector: str):
    """The refusal names the field."""
    with pytest.raises(BadRequest) as refusal:
        await widgets.list(field_selector=selector)
    label = selector.partition("=")[0]
    assert f"field label not supported: {label}" in refusal.value.message


async def test_pages_hold_as_many_as_asked(five: Collection):
    """Each page says where to go on and how many are left; the last says neither."""
    first = await five.list(limit=2)
    assert names(first) == ["a", "b"]
    assert first["metadata"]["remainingItemCount"] == 3
    second = await five.list(limit=2, continue_=first["metadata"]["continue"])
    assert names(second) == ["c", "d"]
    third = await five.list(limit=2, continue_=second["metadata"]["continue"])
    assert names(third) == ["e"]
    assert third["metadata"].get("continue", "") == ""
    assert "remainingItemCount" not in third["metadata"]


async def test_a_page_that_holds_all_is_the_last(five: Collection):
    """A limit that is just reached leaves nothing over."""
    page = await five.list(limit=5)
    assert len(page["items"]) == 5
    assert page["metadata"].get("continue", "") == ""


async def test_pages_show_one_moment(five: Collection):
    """Changes between the pages of a list do not change the list."""
    first = await five.list(limit=2)
    await five.delete("c")
    await five.merge("d", {"spec": {"colour": "blue"}})
    await five.make("bb", spec=RED)
    second = await five.list(limit=9, continue_=first["metadata"]["continue"])
    assert names(second) == ["c", "d", "e"]
    assert second["items"][1]["spec"]["colour"] == "green"
    assert version(second) == version(first)


async def test_pages_of_a_selection(five: Collection):
    """A limit counts what was selected; the number of the remaining ones is not counted then."""
    first = await five.list(limit=2, label_selector="!odd")
    assert names(first) == ["a", "c"]
    assert "remainingItemCount" not in first["metadata"]
    token = first["metadata"]["continue"]
    second = await five.list(limit=2, label_selector="!odd", continue_=token)
    assert names(second) == ["e"]


async def test_pages_of_all_namespaces(five: Collection):
    """Turning pages over all namespaces finds each object once."""
    seen: list[tuple[str, str]] = []
    token = ""
    while True:
        page = await five.everywhere.list(limit=3, continue_=token)
        seen += [(i["metadata"]["namespace"], i["metadata"]["name"]) for i in page["items"]]
        if not (token := page["metadata"].get("continue", "")):
            break
    assert len(seen) == len(set(seen))
    assert [name for namespace, name in seen if namespace == five.namespace] == list("abcde")


@pytest.mark.parametrize("token", ["x", "e30", "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ", "..", "a" * 500])
async def test_a_token_is_the_servers_own(widgets: Collection, token: str):
    """A token that no server gave is refused."""
    with pytest.raises(BadRequest):
        await widgets.list(limit=1, continue_=token)


async def test_a_token_goes_with_no_version(five: Collection):
    """The token says the version already."""
    page = await five.list(limit=1)
    token = page["metadata"]["continue"]
    with pytest.raises(BadRequest):
        await five.list(limit=1, continue_=token, resource_version=version(page))
    with pytest.raises(Invalid):
        await five.list(
            limit=1, continue_=token, resource_version="0", resource_version_match="NotOlderThan"
        )


async def test_an_exact_version_shows_that_moment(five: Collection):
    """The collection as it was: deleted objects are back, new ones gone, changed ones as before."""
    before = await five.list()
    await five.delete("a")
    await five.merge("b", {"spec": {"colour": "blue"}})
    await five.make("f", spec=RED)
    then = await five.list(resource_version=version(before), resource_version_match="Exact")
    assert then["items"] == before["items"]
    assert version(then) == version(before)


async def test_an_exact_version_shows_pages_of_that_moment(five: Collection):
    """Pages of an old version are all of that version."""
    before = await five.list()
    await five.clear()
    page = await five.list(
        resource_version=version(before), resource_version_match="Exact", limit=3
    )
    assert names(page) == ["a", "b", "c"]
    after = await five.list(limit=3, continue_=page["metadata"]["continue"])
    assert names(after) == ["d", "e"]
    assert version(after) == version(before)


@pytest.mark.parametrize("match", ["", "NotOlderThan"])
@pytest.mark.parametrize("asked", ["0", "old"])
async def test_a_version_is_a_lower_bound(five: Collection, match, asked: str):
    """Any state that is at least as new will do; here the newest is at hand."""
    before = await five.list()
    await five.make("f", spec=RED)
    await five.list()
    bound = "0" if asked == "0" else version(before)
    listing = await five.list(resource_version=bound, resource_version_match=match)
    assert set("abcde") <= set(names(listing))
    assert int(version(listing)) >= int(version(before))


@pytest.mark.parametrize("match", ["", "NotOlderThan", "Exact"])
async def test_a_version_of_the_future_is_not_there(widgets: Collection, match):
    """The refusal asks to try again."""
    with pytest.raises(Timeout) as refusal:
        await widgets.list(resource_version="900000000", resource_version_match=match)
    assert "Too large resource version" in refusal.value.message


@pytest.mark.parametrize(
    ("resource_version", "match", "says"),
    [
        ("", "Exact", "resourceVersionMatch is forbidden unless resourceVersion is provided"),
        (
            "",
            "NotOlderThan",
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        ("0", "Exact", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
        ("0", "Newest", 'Unsupported value: "Newest"'),
    ],
)
async def test_how_a_version_is_matched_must_make_sense(
    widgets: Collection, resource_version: str, match, says: str
):
    """A contradiction is refused, and the parameter named."""
    with pytest.raises(Invalid) as refusal:
        await widgets.list(resource_version=resource_version, resource_version_match=match)
    assert f"resourceVersionMatch: {says}" in refusal.value.message.replace("Forbidden: ", "")


@pytest.mark.parametrize("text", ["x", "-1", "1.5", "99999999999999999999999"])
async def test_a_version_is_a_number(widgets: Collection, text: str):
    """Anything else is refused."""
    with pytest.raises(BadRequest) as refusal:
        await widgets.list(resource_version=text)
    assert text in refusal.value.message


async def test_a_forgotten_version_has_expired(five: Collection, forget: Forget):
    """A request for a compacted version is answered with Expired."""
    await five.merge("a", {"spec": {"colour": "blue"}})
    latest = await five.merge("a", {"spec": {"colour": "green"}})
    await forget(version(latest))
    with pytest.raises(Expired):
        await five.list(resource_version="1", resource_version_match="Exact")
    assert len((await five.list())["items"]) == 5
