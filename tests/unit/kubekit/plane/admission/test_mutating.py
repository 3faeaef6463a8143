"""Webhooks that may complete a change."""

import asyncio
from pathlib import Path

import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings, strategies as st

from kubekit.api.errors import ApiError, BadRequest, InternalError, Timeout
from kubekit.client.options import WriteOptions
from kubekit.plane.admission.webhook_patches import patched
from kubekit.plane.admission.webhooks import WebhookSettings
from kubekit.plane.registry.admission import Attempt
from tests.support.generated import depth
from tests.support.kubekit.admission_builders import (
    MUTATING,
    Document,
    Server,
    World,
    add,
    hook,
    patch,
    scenario,
    serving,
    world,
)

BOAT = ("example.com/v1", "Boat")


async def asked(there: World, attempt: Attempt) -> Document:
    waiting = there.webhooks.mutate(attempt)
    if waiting is not None:
        await waiting
    return attempt.document or {}


async def refusal(there: World, attempt: Attempt) -> ApiError:
    with pytest.raises(ApiError) as refused:
        await asked(there, attempt)
    return refused.value


def marking(server: Server, name: str, label: str) -> Document:
    """A webhook that writes a label unless it is there, at a path of its own."""

    def reply(request: Document) -> Document:
        labels = request["object"]["metadata"].get("labels") or {}
        if label in labels:
            return {}
        return patch(add("/metadata/labels", labels | {label: str(len(labels))}))

    return server.on(name, reply)


@scenario
async def test_a_patch_completes_the_object(there: World, server: Server):
    """The document is replaced, and marked for validation."""
    client = server.on("x", lambda _: patch(add("/data", {"a": "b"})))
    await there.configure(MUTATING, "m", hook(client))
    attempt = there.attempt()
    before = attempt.document
    assert (await asked(there, attempt))["data"] == {"a": "b"}
    assert attempt.changed
    assert "data" not in (before or {})


@pytest.mark.parametrize("said", [{}, patch(), patch(add("/data", {"x": "y"}))], ids=str)
@scenario
async def test_what_changes_nothing_is_no_change(there: World, server: Server, said: Document):
    """A yes, an empty patch, and a patch that writes what is there."""
    await there.configure(MUTATING, "m", hook(server.on("x", lambda _: said)))
    attempt = there.attempt(content={"data": {"x": "y"}})
    await asked(there, attempt)
    assert not attempt.changed


@scenario
async def test_each_sees_what_the_one_before_left(there: World, server: Server):
    """In the order of the configurations' names, and of the webhooks in each."""
    b1, b2, a1 = (marking(server, name, name) for name in ("b1", "b2", "a1"))
    await there.configure(MUTATING, "b", hook(b1, "z"), hook(b2, "y"))
    await there.configure(MUTATING, "a", hook(a1, "x"))
    document = await asked(there, there.attempt())
    assert document["metadata"]["labels"] == {"a1": "0", "b1": "1", "b2": "2"}
    assert [review["path"][1:3] for review in server.reviews] == ["a1", "b1", "b2"]


@scenario
async def test_the_next_sees_the_defaults_of_what_was_added(there: World, server: Server):
    """Also what a webhook adds is completed by its schema before the next one looks."""
    sail = server.on("x", lambda _: patch(add("/spec", {"sail": {}})))
    look = server.on("y", lambda _: {})
    await there.configure(MUTATING, "m", hook(sail, "a"), hook(look, "b"))
    await asked(there, there.attempt(kind=BOAT))
    assert server.reviews[-1]["object"]["spec"] == {"sail": {"size": 3}}


@scenario
async def test_a_webhook_can_be_reinvoked(there: World, server: Server):
    """Once more, and only if a later webhook changed the object."""
    early, late = marking(server, "early", "early"), marking(server, "late", "late")
    await there.configure(
        MUTATING,
        "m",
        hook(early, "a", reinvocationPolicy="IfNeeded"),
        hook(late, "b", reinvocationPolicy="IfNeeded"),
        hook(server.on("idle", lambda _: {}), "c"),
    )
    await asked(there, there.attempt())
    asked_at = [review["path"].partition("?")[0] for review in server.reviews]
    assert asked_at == ["/early", "/late", "/idle", "/early"]


@scenario
async def test_who_never_agrees_is_asked_twice_at_most(there: World, server: Server):
    """Two that undo each other come to an end."""

    def flip(color: str) -> Document:
        return server.on(color, lambda _: patch(add("/spec", {"color": color})))

    hooks = [hook(flip(name), name, reinvocationPolicy="IfNeeded") for name in ("red", "blue")]
    await there.configure(MUTATING, "m", *hooks)
    await asked(there, there.attempt(kind=BOAT))
    assert len(server.reviews) == 3


@scenario
async def test_who_does_not_want_it_is_not_asked_again(there: World, server: Server):
    """That is the default."""
    early, late = marking(server, "early", "early"), marking(server, "late", "late")
    await there.configure(MUTATING, "m", hook(early, "a"), hook(late, "b"))
    await asked(there, there.attempt())
    assert len(server.reviews) == 2


@scenario
async def test_a_label_that_was_added_counts_for_the_next(there: World, server: Server):
    """Whether a webhook is asked is decided when its turn comes."""
    mark = marking(server, "x", "marked")
    selector = {"matchExpressions": [{"key": "marked", "operator": "Exists"}]}
    look = server.on("y", lambda _: {})
    await there.configure(MUTATING, "m", hook(mark, "a"), hook(look, "b", objectSelector=selector))
    await asked(there, there.attempt())
    assert len(server.reviews) == 2


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("/metadata/name", "two", "metadata.name"),
        ("/metadata/namespace", "default", "metadata.namespace"),
        ("/metadata/uid", "u-9", "metadata.uid"),
        ("/apiVersion", "v2", "apiVersion"),
        ("/kind", "Secret", "kind"),
    ],
)
@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
@scenario
async def test_w1_who_an_object_is_stays(
    there: World, server: Server, *, path: str, value: str, field: str, policy: str
):
    """A patch that makes another object of it refuses the change, whatever failures mean."""
    client = server.on("x", lambda _: patch(add(path, value)))
    await there.configure(MUTATING, "m", hook(client, failurePolicy=policy))
    attempt = there.attempt()
    refused = await refusal(there, attempt)
    assert isinstance(refused, InternalError)
    assert refused.message == (
        'Internal error occurred: admission webhook "one.example.com" attempted to change '
        f"{field} of the object, which is not allowed"
    )
    assert not attempt.changed


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ({"op": "remove", "path": "/nope"}, "sent a patch that cannot be applied"),
        ({"op": "test", "path": "/kind", "value": "x"}, "sent a patch that cannot be applied"),
        ({"op": "add", "path": "", "value": []}, "sent a patch that cannot be applied"),
        ({"op": "add", "path": "/metadata", "value": 5}, "attempted to remove the metadata"),
        ({"op": "remove", "path": "/metadata"}, "attempted to remove the metadata"),
    ],
    ids=str,
)
@scenario
async def test_w1_a_patch_that_does_not_fit_refuses_the_change(
    there: World, server: Server, operation: Document, words: str
):
    """Half of a patch is not applied."""
    client = server.on("x", lambda _: patch(add("/data", {"a": "b"}), operation))
    await there.configure(MUTATING, "m", hook(client))
    attempt = there.attempt()
    refused = await refusal(there, attempt)
    assert f'admission webhook "one.example.com" {words}' in refused.message
    assert not attempt.changed


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"patch": "W10="}, "webhook returned response.patch but not response.patchType"),
        (
            {"patchType": "JSONPatch"},
            "webhook returned response.patchType but not response.patch",
        ),
        ({"patch": "e30=", "patchType": "Merge"}, 'unsupported patch type "Merge"'),
        ({"patch": "%%", "patchType": "JSONPatch"}, "illegal base64 data"),
        ({"patch": "e3s=", "patchType": "JSONPatch"}, "received undecodable patch"),
        ({"patch": "e30=", "patchType": "JSONPatch"}, "received undecodable patch"),
    ],
    ids=str,
)
@scenario
async def test_w1_a_patch_that_cannot_be_read_is_a_failure(
    there: World, server: Server, said: Document, words: str
):
    """It counts as no answer."""
    await there.configure(MUTATING, "m", hook(server.on("x", lambda _: said)))
    refused = await refusal(there, there.attempt())
    assert 'failed calling webhook "one.example.com": ' in refused.message
    assert words in refused.message


@scenario
async def test_w1_a_patch_has_bounds(there: World, server: Server):
    """As many operations as a client's patch may have, and no more."""
    client = server.on("x", lambda _: patch(*[add("/data", {})] * 10_001))
    await there.configure(MUTATING, "m", hook(client))
    assert "10000, got 10001" in (await refusal(there, there.attempt())).message


@scenario
async def test_a_deletion_cannot_be_completed(there: World, server: Server):
    """There is nothing to patch, and a yes is enough."""
    client = server.on("x", lambda _: patch(add("/data", {})))
    await there.configure(MUTATING, "m", hook(client))
    refused = await refusal(there, there.attempt("delete"))
    assert "attempted to modify the object, which is not supported" in refused.message


@scenario
async def test_a_no_ends_it(there: World, server: Server):
    """The next one is not asked any more."""
    no = server.on("x", lambda _: {"allowed": False, "status": {"message": "no"}})
    yes = server.on("y", lambda _: {})
    await there.configure(MUTATING, "m", hook(no, "a"), hook(yes, "b"))
    assert isinstance(await refusal(there, there.attempt()), BadRequest)
    assert len(server.reviews) == 1


@scenario
async def test_a_failure_that_does_not_matter_leaves_all_as_it_was(there: World, server: Server):
    """And the next one is asked."""
    await there.configure(
        MUTATING,
        "m",
        hook({"url": "https://127.0.0.1:9/"}, "a", failurePolicy="Ignore"),
        hook(marking(server, "x", "done"), "b"),
    )
    assert (await asked(there, there.attempt()))["metadata"]["labels"] == {"done": "0"}


@scenario
async def test_an_object_is_patched_in_the_version_that_the_webhook_sees(
    there: World, server: Server
):
    """And comes back in the one that the client used."""
    client = server.on("x", lambda _: patch(add("/spec", {"color": "red"})))
    rule = {"apiVersions": ["v2"]}
    await there.configure(MUTATING, "m", hook(client, rule=rule))
    document = await asked(there, there.attempt(kind=BOAT))
    [review] = server.reviews
    assert review["object"]["apiVersion"] == "example.com/v2"
    assert (review["kind"]["version"], review["requestKind"]["version"]) == ("v2", "v1")
    assert (document["apiVersion"], document["spec"]) == ("example.com/v1", {"color": "red"})


@scenario
async def test_a_scale_is_patched_as_a_scale(there: World, server: Server):
    """The number goes where the kind keeps it."""
    client = server.on("x", lambda _: patch(add("/spec/replicas", 7)))
    await there.configure(MUTATING, "m", hook(client))
    boat = {"content": {"spec": {"crew": 2, "color": "red"}}}
    attempt = there.attempt("update", BOAT, subresource="scale", **boat)
    document = await asked(there, attempt)
    assert document["spec"] == {"crew": 7, "color": "red"}
    assert document["metadata"]["uid"] == "u-0"


@scenario
async def test_a_scale_that_makes_no_sense_is_refused(there: World, server: Server):
    """A negative number is invalid."""
    client = server.on("x", lambda _: patch(add("/spec/replicas", -1)))
    await there.configure(MUTATING, "m", hook(client))
    attempt = there.attempt("update", BOAT, subresource="scale", content={"spec": {"crew": 2}})
    assert "made an invalid Scale" in (await refusal(there, attempt)).message


@scenario
async def test_a_dry_run_is_marked_in_the_request(there: World, server: Server):
    """A webhook without side effects is asked about it like about any other change."""
    await there.configure(MUTATING, "m", hook(server.on("x", lambda _: {})))
    await asked(there, there.attempt(options=WriteOptions(dry_run=True)))
    [review] = server.reviews
    assert review["dryRun"] is True
    assert review["options"]["dryRun"] == ["All"]


def test_w1_many_that_hang_do_not_add_up(tmp_path: Path):
    """There is one end for all of them together, and nothing is let through by it."""

    async def never(_request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError("the event is never set")

    async def story() -> None:
        async with (
            serving(tmp_path) as server,
            world(tmp_path, WebhookSettings(timeout=0.2)) as there,
        ):
            client = server.at("x", never)
            slow = [hook(client, f"h{n}", failurePolicy="Ignore") for n in range(9)]
            await there.configure(MUTATING, "m", *slow)
            refused = await refusal(there, there.attempt())
            assert isinstance(refused, Timeout)
            assert refused.message == "the webhooks took more than 0.2 s together"

    asyncio.run(story())


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab/~", max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=4,
)
_PATHS = st.sampled_from(
    ["", "/metadata", "/metadata/name", "/metadata/uid", "/metadata/labels", "/spec", "/kind",
     "/apiVersion", "/metadata/namespace", "/status", "/metadata/labels/a"]
)  # fmt: skip
_OPERATIONS = st.lists(
    st.fixed_dictionaries(
        {
            "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]),
            "path": _PATHS,
            "from": _PATHS,
            "value": _VALUES,
        }
    ),
    max_size=4,
)


@pytest.fixture(scope="module")
def boat(tmp_path_factory: pytest.TempPathFactory) -> Attempt:
    found: list[Attempt] = []

    @scenario
    async def keep(there: World):
        found.append(there.attempt(kind=BOAT))

    keep(tmp_path=tmp_path_factory.mktemp("boat"))
    return found[0]


@settings(max_examples=depth.examples(300), deadline=None, suppress_health_check=list(HealthCheck))
@given(_OPERATIONS)
def test_w1_no_patch_changes_who_an_object_is(boat: Attempt, operations: list[Document]):
    """Whatever a patch does, it is refused, changes nothing, or leaves the same object."""
    before = boat.document or {}
    try:
        after = patched(boat, boat.kind, operations, "h")
    except InternalError:
        return
    if after is not None:
        for name in ("name", "namespace", "uid"):
            assert after["metadata"][name] == before["metadata"][name]
        assert (after["apiVersion"], after["kind"]) == ("example.com/v1", "Boat")


@pytest.mark.parametrize(
    "spoiled",
    [
        add("/metadata/labels", "x"),
        add("/metadata/labels", {"a": 1}),
        add("/metadata/finalizers", 3),
    ],
    ids=["no labels", "no label", "no finalizers"],
)
@scenario
async def test_w1_unreadable_metadata_is_the_webhooks_fault(
    there: World, server: Server, spoiled: Document
):
    """The change is refused in the webhook's name, before the next one is asked about it."""
    first = hook(server.on("x", lambda _: patch(spoiled)), "first")
    second = hook(
        server.on("y", lambda _: {}), "second", objectSelector={"matchLabels": {"a": "b"}}
    )
    await there.configure(MUTATING, "m", first, second)
    refused = await refusal(there, there.attempt())
    assert isinstance(refused, InternalError)
    assert 'admission webhook "first.example.com" made unreadable metadata' in refused.message
