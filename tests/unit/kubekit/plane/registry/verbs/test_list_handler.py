"""Reading: which objects, in which state, in which pages."""

import asyncio
from itertools import chain
from typing import Any

import pytest

from kubekit.api.errors import BadRequest, Expired, Invalid, NotFound, Timeout, Unavailable
from kubekit.client.options import ListOptions
from kubekit.plane.registry.verbs import continue_tokens
from kubekit.plane.registry.verbs.continue_tokens import ExpiredToken
from tests.support.kubekit.registry_builders import (
    SPACE,
    World,
    decoded,
    details_of,
    names,
    scenario,
)


async def make(world: World, *several: str) -> None:
    for name in several:
        await world.widgets.make(name, {"labels": {"name": name}}, spec={"color": name})


async def pages(world: World, options: ListOptions) -> list[list[str]]:
    found = []
    while True:
        page = await world.widgets.list(options)
        found.append(names(page))
        if not page.continue_:
            return found
        options = ListOptions(
            limit=options.limit,
            continue_=page.continue_,
            label_selector=options.label_selector,
            field_selector=options.field_selector,
        )


@scenario
async def test_get_reads_the_present(world: World):
    """A version means: not older. What is not there is not found."""
    made = await world.widgets.make("a")
    assert (
        world.widgets.get("a") == world.widgets.get("a", "0") == world.widgets.get("a", "1") == made
    )
    with pytest.raises(NotFound, match=r'widgets.example.com "b" not found'):
        world.widgets.get("b")


@scenario
async def test_get_does_not_read_the_future(world: World):
    """The caller may ask again: the version may come."""
    await world.widgets.make("a")
    with pytest.raises(Timeout, match="Too large resource version: 99, current: 2") as refusal:
        world.widgets.get("a", "99")
    assert details_of(refusal).retry_after_seconds == 1
    assert details_of(refusal).causes[0].reason == "ResourceVersionTooLarge"


@pytest.mark.parametrize(
    "text", ["abc", "-1", "1.0", "9" * 25, "9" * 100, "\N{ARABIC-INDIC DIGIT ONE}"]
)
@scenario
async def test_a_version_is_a_number(world: World, text):
    """A read with another version is refused."""
    with pytest.raises(BadRequest, match="invalid resource version"):
        world.widgets.get("a", text)
    with pytest.raises(BadRequest, match="invalid resource version"):
        await world.widgets.list(ListOptions(resource_version=text))


@scenario
async def test_a_list_has_one_namespace_or_all(world: World):
    """Objects come in the order of namespace and name, with the revision of the whole."""
    await world.namespaces.make("other")
    await make(world, "b", "a")
    await world.collection("example.com/v1", "Widget", "other").make("c")
    assert names(await world.widgets.list()) == ["a", "b"]
    everywhere = await world.collection("example.com/v1", "Widget", "").list()
    assert [record.key for record in everywhere.records] == ["other/c", f"{SPACE}/a", f"{SPACE}/b"]
    assert everywhere.revision == world.store.revision


@scenario
async def test_an_empty_list(world: World):
    """Nothing is an answer too."""
    page = await world.widgets.list(ListOptions(limit=5))
    assert (page.records, page.continue_, page.remaining) == ([], "", None)


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 6])
@scenario
async def test_pages_make_up_the_whole(world: World, limit):
    """Each object is on one page, and no page is longer than the limit."""
    await make(world, *"abcde")
    found = await pages(world, ListOptions(limit=limit))
    assert list(chain.from_iterable(found)) == list("abcde")
    assert max(map(len, found)) <= limit


@scenario
async def test_a_page_counts_what_follows(world: World):
    """Only without selectors: otherwise every object would have to be checked."""
    await make(world, *"abcde")
    assert (await world.widgets.list(ListOptions(limit=2))).remaining == 3
    chosen = ListOptions(limit=2, label_selector="name")
    assert (await world.widgets.list(chosen)).remaining is None


@scenario
async def test_pages_of_a_selection(world: World):
    """The limit counts selected objects, not checked ones."""
    await make(world, *"abcdef")
    options = ListOptions(limit=2, label_selector="name in (b,d,f)")
    assert await pages(world, options) == [["b", "d"], ["f"]]


@scenario
async def test_all_pages_are_of_one_moment(world: World):
    """What changes between two pages does not show, and the revision stays."""
    await make(world, *"abcd")
    first = await world.widgets.list(ListOptions(limit=2))
    await world.widgets.delete("c")
    await world.widgets.make("e")
    await world.widgets.merge("d", {"spec": {"color": "new"}})
    second = await world.widgets.list(ListOptions(limit=1, continue_=first.continue_))
    third = await world.widgets.list(ListOptions(limit=1, continue_=second.continue_))
    assert (names(second), second.remaining, names(third)) == (["c"], 1, ["d"])
    assert decoded(third.records[0])["spec"]["color"] == "d"
    assert {first.revision, second.revision} == {third.revision}


@scenario
async def test_a_forgotten_list_can_be_finished_inconsistently(world: World):
    """The refusal brings a token that goes on with the present."""
    await make(world, *"abcd")
    first = await world.widgets.list(ListOptions(limit=2))
    await world.widgets.make("e")
    await world.store.compact(world.store.revision)
    with pytest.raises(ExpiredToken) as refusal:
        await world.widgets.list(ListOptions(limit=2, continue_=first.continue_))
    status = refusal.value.to_status()
    assert (status.code, status.reason) == (410, "Expired")
    rest = await world.widgets.list(ListOptions(continue_=status.metadata.continue_))
    assert names(rest) == ["c", "d", "e"]


OTHERS = {
    "namespace": ("", {}),
    "labels": (SPACE, {"label_selector": "name"}),
    "fields": (SPACE, {"field_selector": "spec.color=a"}),
}


@pytest.mark.parametrize(("namespace", "options"), OTHERS.values(), ids=OTHERS)
@scenario
async def test_a_token_belongs_to_its_list(world: World, namespace, options):
    """Another question needs another token."""
    await make(world, *"ab")
    token = (await world.widgets.list(ListOptions(limit=1))).continue_
    widgets = world.collection("example.com/v1", "Widget", namespace)
    with pytest.raises(BadRequest, match="belongs to another list"):
        await widgets.list(ListOptions(continue_=token, **options))


@pytest.mark.parametrize("token", ["garbage", "e30", "ä", "!", "a", "bnVsbA", "x" * 5000])
@scenario
async def test_a_token_is_not_made_up(world: World, token):
    """What this server did not give out is a bad request."""
    with pytest.raises(BadRequest, match="invalid continue token"):
        await world.widgets.list(ListOptions(continue_=token))


@scenario
async def test_a_list_of_a_version(world: World):
    """Exact is that version; a limit alone means it too; NotOlderThan is the present."""
    await make(world, "a")
    then = str(world.store.revision)
    await make(world, "b")

    async def listed(**options: Any) -> list[str]:
        return names(await world.widgets.list(ListOptions(resource_version=then, **options)))

    assert await listed(resource_version_match="Exact") == ["a"]
    assert await listed(limit=5) == ["a"]
    assert await listed() == ["a", "b"]
    assert await listed(resource_version_match="NotOlderThan", limit=5) == ["a", "b"]


@pytest.mark.parametrize("match", ["", "NotOlderThan"])
@scenario
async def test_version_zero_is_any(world: World, match):
    """The present is as good as any; a limit holds all the same."""
    await make(world, *"abc")
    options = ListOptions(resource_version="0", resource_version_match=match, limit=2)
    assert names(await world.widgets.list(options)) == ["a", "b"]


@pytest.mark.parametrize("match", ["", "Exact", "NotOlderThan"])
@scenario
async def test_a_list_does_not_read_the_future(world: World, match):
    """A version that is not there yet may come: ask again."""
    options = ListOptions(resource_version="99", resource_version_match=match)
    with pytest.raises(Timeout, match="Too large resource version: 99"):
        await world.widgets.list(options)


@scenario
async def test_a_forgotten_version_is_expired(world: World):
    """The caller has to list the present."""
    await make(world, *"abc")
    await world.store.compact(world.store.revision)
    options = ListOptions(resource_version="2", resource_version_match="Exact")
    with pytest.raises(Expired, match="too old resource version: 2"):
        await world.widgets.list(options)


@scenario
async def test_a_store_that_closes_refuses_old_lists_with_a_reason(world: World):
    """The past cannot be read any more; the present still can."""
    await make(world, "a", "b")
    await world.store.close()
    with pytest.raises(Unavailable, match="closed"):
        await world.widgets.list(ListOptions(resource_version="1", resource_version_match="Exact"))
    assert len((await world.widgets.list()).records) == 2


@scenario
async def test_a_token_of_a_future_revision_is_refused(world: World):
    """A token of a plane that was set back names a version that is not there."""
    asked = continue_tokens.query_digest("", "example.com/widgets", f"{SPACE}/", "", "")
    token = continue_tokens.write(continue_tokens.ContinueToken(asked, 99, "a"))
    with pytest.raises(Timeout, match="Too large resource version: 99"):
        await world.widgets.list(ListOptions(continue_=token))


CONTRADICTIONS = {
    "match alone": ({"resource_version_match": "Exact"}, "unless resourceVersion is provided"),
    "match and continue": (
        {"resource_version": "1", "resource_version_match": "NotOlderThan", "continue_": "x"},
        "resourceVersionMatch is forbidden when continue is provided",
    ),
    "exactly any": (
        {"resource_version": "0", "resource_version_match": "Exact"},
        'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ),
    "no match": (
        {"resource_version": "1", "resource_version_match": "Foo"},
        'resourceVersionMatch: Unsupported value: "Foo"',
    ),
}


@pytest.mark.parametrize(("options", "says"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
@scenario
async def test_options_must_go_together(world: World, options, says):
    """The refusal speaks of the options, by their names on the wire."""
    with pytest.raises(Invalid) as refusal:
        await world.widgets.list(ListOptions(**options))
    assert says in refusal.value.message
    assert details_of(refusal).kind == "ListOptions"


@scenario
async def test_a_version_and_a_token_contradict(world: World):
    """The token knows the version."""
    with pytest.raises(BadRequest, match="not allowed when using continue"):
        await world.widgets.list(ListOptions(resource_version="1", continue_="x"))


@scenario
async def test_long_collections_are_filtered_in_slices(world: World):
    """Other tasks run while one request filters many objects."""
    await asyncio.gather(*(world.config_maps.make(f"n-{n:05}") for n in range(4100)))
    turns: list[str] = []
    asyncio.get_running_loop().call_soon(turns.append, "another")
    page = await world.config_maps.list(ListOptions(field_selector="metadata.name!=n-00000"))
    assert len(page.records) == 4099
    assert turns == ["another"]
