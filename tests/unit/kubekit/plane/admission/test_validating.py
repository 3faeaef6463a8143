"""Webhooks that may refuse a change."""

import asyncio
import base64
import functools
from pathlib import Path

import msgspec
import pytest
from aiohttp import web

from kubekit.api.errors import (
    ApiError,
    BadRequest,
    Conflict,
    Forbidden,
    InternalError,
    Invalid,
    NotFound,
)
from kubekit.client.options import DeleteOptions, WriteOptions
from kubekit.plane.admission.webhooks import WebhookSettings
from kubekit.plane.http import eager
from kubekit.plane.registry.admission import Attempt
from tests.support.kubekit.admission_builders import (
    SPACE,
    VALIDATING,
    Document,
    Server,
    World,
    answer,
    hook,
    pair,
    scenario,
    serving,
    world,
)

FINE: Document = {}


def _no(why: str, _request: Document) -> Document:
    return {"allowed": False, "status": {"message": why}}


async def asked(there: World, attempt: Attempt) -> None:
    waiting = there.webhooks.validate(attempt)
    if waiting is not None:
        await waiting


async def refusal(there: World, attempt: Attempt) -> ApiError:
    with pytest.raises(ApiError) as refused:
        await asked(there, attempt)
    return refused.value


@scenario
async def test_without_webhooks_nothing_waits(there: World):
    """There is not even something to await."""
    assert there.webhooks.validate(there.attempt()) is None
    assert there.webhooks.mutate(there.attempt()) is None


@scenario
async def test_without_a_matching_webhook_nothing_waits(there: World, server: Server):
    """The rules are evaluated without a call."""
    await there.configure(VALIDATING, "v", hook(server.client("x")))
    assert there.webhooks.validate(there.attempt(kind=("v1", "Secret"))) is None


@scenario
async def test_a_webhook_is_asked_about_a_change(there: World, server: Server):
    """It gets the user and the change, in Kubernetes' format."""
    await there.configure(VALIDATING, "v", hook(server.on("x", lambda _: FINE)))
    attempt = there.attempt(content={"data": {"a": "b"}}, options=WriteOptions(field_manager="me"))
    await asked(there, attempt)
    [review] = server.reviews
    uid = review.pop("uid")
    assert len(uid) == 36
    assert review == {
        "path": "/x?timeout=10s",
        "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "resource": {"group": "", "version": "v1", "resource": "configmaps"},
        "requestKind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "requestResource": {"group": "", "version": "v1", "resource": "configmaps"},
        "name": "one",
        "namespace": SPACE,
        "operation": "CREATE",
        "userInfo": {
            "username": "ann",
            "uid": "u-1",
            "groups": ["builders"],
            "extra": {"team": ["red"]},
        },
        "object": attempt.document,
        "oldObject": None,
        "dryRun": False,
        "options": {
            "kind": "CreateOptions",
            "apiVersion": "meta.k8s.io/v1",
            "fieldManager": "me",
        },
    }
    [headers] = server.headers
    assert headers["Content-Type"] == "application/json"
    assert "Authorization" not in headers


@scenario
async def test_an_update_shows_what_was(there: World, server: Server):
    """And says which part changes."""
    await there.configure(VALIDATING, "v", hook(server.on("x", lambda _: FINE)))
    attempt = there.attempt("update", ("example.com/v1", "Boat"), subresource="status")
    await asked(there, attempt)
    [review] = server.reviews
    assert review["oldObject"] == attempt.old
    assert review["operation"] == "UPDATE"
    assert (review["subResource"], review["requestSubResource"]) == ("status", "status")
    assert review["options"] == {"kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1"}


@scenario
async def test_a_deletion_shows_what_goes(there: World, server: Server):
    """There is no new object, and the options are those of a deletion."""
    await there.configure(VALIDATING, "v", hook(server.on("x", lambda _: FINE)))
    options = DeleteOptions(uid="u-0", propagation="Orphan", grace_period_seconds=3, dry_run=True)
    attempt = there.attempt("delete", options=options)
    await asked(there, attempt)
    [review] = server.reviews
    assert (review["object"], review["oldObject"]) == (None, attempt.old)
    assert review["dryRun"] is True
    assert review["options"] == {
        "kind": "DeleteOptions",
        "apiVersion": "meta.k8s.io/v1",
        "dryRun": ["All"],
        "preconditions": {"uid": "u-0"},
        "propagationPolicy": "Orphan",
        "gracePeriodSeconds": 3,
    }


@scenario
async def test_a_scale_is_shown_as_a_scale(there: World, server: Server):
    """Scalers speak of no other kind."""
    await there.configure(VALIDATING, "v", hook(server.on("x", lambda _: FINE)))
    attempt = there.attempt(
        "update", ("example.com/v1", "Boat"), subresource="scale", content={"spec": {"crew": 4}}
    )
    await asked(there, attempt)
    [review] = server.reviews
    assert review["kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert review["resource"]["resource"] == "boats"
    assert review["object"]["spec"] == {"replicas": 4}


@pytest.mark.parametrize(
    ("status", "kind", "code", "reason", "words"),
    [
        (None, BadRequest, 400, "", " without explanation"),
        ({"message": "not here"}, BadRequest, 400, "", ": not here"),
        ({"reason": "NotFound"}, NotFound, 400, "NotFound", ": NotFound"),
        ({"code": 403, "message": "no"}, Forbidden, 403, "", ": no"),
        ({"code": 409}, Conflict, 409, "", " without explanation"),
        ({"code": 422, "reason": "Invalid", "message": "no"}, Invalid, 422, "Invalid", ": no"),
        (
            {"code": 418, "reason": "Teapot", "message": "tea"},
            InternalError,
            418,
            "Teapot",
            ": tea",
        ),
        ({"code": 200, "status": "Success", "message": "hm"}, BadRequest, 400, "", ": hm"),
        ({"code": 9999, "message": "hm"}, BadRequest, 400, "", ": hm"),
    ],
    ids=str,
)
@scenario
async def test_a_denial_has_the_webhooks_own_status(
    there: World, server: Server, *, status, kind, code, reason, words
):
    """With its code and reason, by the error that a client of a server would see."""
    said = {"allowed": False} | ({} if status is None else {"status": status})
    await there.configure(VALIDATING, "v", hook(server.on("x", lambda _: said)))
    refused = await refusal(there, there.attempt())
    assert isinstance(refused, kind)
    assert (refused.code, refused.to_status().reason) == (code, reason)
    assert refused.message == f'admission webhook "one.example.com" denied the request{words}'


@scenario
async def test_a_no_carries_its_details(there: World, server: Server):
    """Which field is wrong is the webhook's to say; of endless causes some are passed on."""
    causes = [{"field": "spec.x", "message": "too long", "reason": "FieldValueTooLong"}] * 200
    status = {"message": "m" * 50_000, "details": {"name": "n", "causes": causes}}
    said = {"allowed": False, "status": status}
    await there.configure(VALIDATING, "v", hook(server.on("x", lambda _: said)))
    refused = await refusal(there, there.attempt())
    assert refused.details is not None
    assert (refused.details.name, len(refused.details.causes)) == ("n", 100)
    assert len(refused.message) < 17_000


def _raw(**said: object) -> Document:
    whole: Document = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", **said}
    return {name: value for name, value in whole.items() if value is not None}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (_raw(response={"uid": "x", "allowed": True}), 'expected response.uid="UID", got "x"'),
        (_raw(response={"allowed": True}), 'expected response.uid="UID", got ""'),
        (_raw(), "webhook response was absent"),
        (
            _raw(kind=None, response={"uid": "UID", "allowed": True}),
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, "
            "got admission.k8s.io/v1, Kind=",
        ),
        (
            _raw(apiVersion="admission.k8s.io/v1beta1", response={"uid": "UID", "allowed": True}),
            "got admission.k8s.io/v1beta1, Kind=AdmissionReview",
        ),
        (
            _raw(
                response={"uid": "UID", "allowed": True, "patch": "W10=", "patchType": "JSONPatch"}
            ),
            "validating webhook may not return response.patch",
        ),
        (
            _raw(response={"uid": "UID", "allowed": True, "patchType": "JSONPatch"}),
            "validating webhook may not return response.patchType",
        ),
        (_raw(response={"uid": "UID", "allowed": "yes"}), "the answer is not a review"),
        ([], "the answer is not a review"),
        (b"<html>", "the answer is not a review: the body is not JSON"),
        (b"", "0-length response"),
        (b'{"a":' * 1000, "the answer is not a review"),
    ],
    ids=str,
)
@scenario
async def test_w1_an_answer_that_is_none_is_a_failure(there: World, server: Server, body, words):
    """Nothing is let through by an answer to another question, or by half of one."""
    uid = ""

    async def reply(request: web.Request) -> web.Response:
        nonlocal uid
        uid = msgspec.json.decode(await request.read())["request"]["uid"]
        text = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return web.Response(body=text.replace(b"UID", uid.encode()))

    await there.configure(VALIDATING, "v", hook(server.at("x", reply)))
    refused = await refusal(there, there.attempt())
    assert isinstance(refused, InternalError)
    assert 'Internal error occurred: failed calling webhook "one.example.com": ' in refused.message
    assert words.replace("UID", uid) in refused.message
    assert refused.details is not None
    assert refused.details.causes[0].message in refused.message


@scenario
async def test_go_writes_null_for_what_is_empty(there: World, server: Server):
    """An answer with nulls is a plain yes."""
    empty = dict.fromkeys(("status", "patch", "patchType", "warnings", "auditAnnotations"))
    await there.configure(VALIDATING, "v", hook(server.on("x", lambda _: empty)))
    await asked(there, there.attempt())


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
@scenario
async def test_w1_what_a_failure_means_is_the_configurations_to_say(there: World, policy: str):
    """A change is refused when a webhook that must be asked cannot be, and only then."""
    client = {"url": "https://127.0.0.1:9/x"}
    await there.configure(VALIDATING, "v", hook(client, failurePolicy=policy, timeoutSeconds=5))
    if policy == "Ignore":
        await asked(there, there.attempt())
        return
    refused = await refusal(there, there.attempt())
    assert refused.message == (
        'Internal error occurred: failed calling webhook "one.example.com": failed to call '
        'webhook: Post "https://127.0.0.1:9/x?timeout=5s": dial tcp 127.0.0.1:9: connect: '
        "connection refused"
    )


@scenario
async def test_w1_a_no_is_a_no_also_where_failures_are_ignored(there: World, server: Server):
    """An answer is not a failure."""
    client = server.on("x", lambda _: {"allowed": False})
    await there.configure(VALIDATING, "v", hook(client, failurePolicy="Ignore"))
    assert isinstance(await refusal(there, there.attempt()), BadRequest)


@scenario
async def test_a_service_is_not_found(there: World):
    """There are none in this plane, and the refusal says what to do instead."""
    client = {"service": {"name": "s", "namespace": SPACE, "path": "/x"}}
    await there.configure(VALIDATING, "v", hook(client))
    refused = await refusal(there, there.attempt())
    assert refused.message == (
        'Internal error occurred: failed calling webhook "one.example.com": failed to call '
        'webhook: Post "https://s.room.svc:443/x?timeout=10s": service "s" not found: this server '
        "has no Services; give the webhook a clientConfig.url"
    )


def test_a_service_may_be_resolved(tmp_path: Path):
    """The operator of the plane may resolve Services; the certificate is for their name."""

    async def story() -> None:
        async with serving(tmp_path, "s.room.svc") as server:
            around = WebhookSettings(resolve=lambda _service: server.url)
            server.on("x", lambda _: FINE)
            service = {"name": "s", "namespace": SPACE, "path": "/x"}
            client = {"service": service, "caBundle": server.ca_bundle}
            async with world(tmp_path, around) as there:
                await there.configure(VALIDATING, "v", hook(client))
                await asked(there, there.attempt())
            assert [review["name"] for review in server.reviews] == ["one"]

    asyncio.run(story())


@scenario
async def test_a_webhook_that_reads_only_old_reviews_fails(there: World, server: Server):
    """There is one version here, and the failure says so."""
    client = server.on("x", lambda _: FINE)
    old = hook(client) | {"admissionReviewVersions": ["v1beta1"]}
    await there.configure(VALIDATING, "v", old)
    refused = await refusal(there, there.attempt())
    assert "it reads AdmissionReview only in v1beta1; this server writes v1" in refused.message


@scenario
async def test_w1_another_certificate_fails_closed(there: World, server: Server):
    """No other server can answer in the webhook's place."""
    client = server.on("x", lambda _: FINE)
    foreign = base64.b64encode(pair()[0]).decode()
    await there.configure(VALIDATING, "v", hook(client | {"caBundle": foreign}))
    refused = await refusal(there, there.attempt())
    assert "tls: failed to verify certificate" in refused.message
    assert server.reviews == []


@scenario
async def test_warnings_are_passed_on_within_bounds(there: World, server: Server):
    """Long ones are cut, those that do not fit into a header are dropped, and their number is limited."""
    given = ["fine", "x" * 300, "", "two\nlines", *(f"{n:03}" + "y" * 253 for n in range(100))]
    await there.configure(VALIDATING, "v", hook(server.on("x", lambda _: {"warnings": given})))
    attempt = there.attempt()
    await asked(there, attempt)
    assert attempt.warnings[:2] == ["fine", "x" * 256]
    assert "two\nlines" not in attempt.warnings
    assert sum(map(len, attempt.warnings)) <= 4096
    assert len(attempt.warnings) > 10


def test_annotations_are_for_the_audit(tmp_path: Path):
    """Each under the name of its webhook."""
    noted: list[tuple[str, str, str]] = []

    def audit(attempt: Attempt, key: str, value: str) -> None:
        noted.append((attempt.name, key, value))

    async def story() -> None:
        async with (
            serving(tmp_path) as server,
            world(tmp_path, WebhookSettings(audit=audit)) as there,
        ):
            said = {"auditAnnotations": {"why": "because", "long": "x" * 9000}}
            await there.configure(VALIDATING, "v", hook(server.on("x", lambda _: said)))
            await asked(there, there.attempt())

    asyncio.run(story())
    assert noted[0] == ("one", "one.example.com/why", "because")
    assert len(noted[1][2]) == 4096


@scenario
async def test_all_are_asked_at_once(there: World, server: Server):
    """Each answers only when the other has been asked too."""
    both = asyncio.Barrier(2)

    async def together(request: web.Request) -> web.Response:
        review = msgspec.json.decode(await request.read())
        await both.wait()
        return web.json_response(answer(review["request"]["uid"], {}))

    client = server.at("x", together)
    await there.configure(VALIDATING, "v", hook(client, "one"), hook(client, "two"))
    await asked(there, there.attempt())


@scenario
async def test_of_several_denials_the_first_is_reported(there: World, server: Server):
    """By the names of the configurations, in whatever order they answered."""
    for name in ("b", "a"):
        client = server.on(name, functools.partial(_no, f"says {name}"))
        await there.configure(VALIDATING, name, hook(client, name))
    assert "says a" in (await refusal(there, there.attempt())).message


@scenario
async def test_w1_others_are_served_while_a_webhook_hangs(there: World, server: Server):
    """Other changes do not wait for it."""
    reached, release = asyncio.Event(), asyncio.Event()

    async def hang(request: web.Request) -> web.Response:
        review = msgspec.json.decode(await request.read())
        reached.set()
        await release.wait()
        return web.json_response(answer(review["request"]["uid"], {}))

    selector = {"matchLabels": {"slow": "yes"}}
    await there.configure(VALIDATING, "v", hook(server.at("x", hang), objectSelector=selector))
    stuck = [
        asyncio.ensure_future(asked(there, there.attempt(labels={"slow": "yes"})))
        for _ in range(50)
    ]
    await reached.wait()
    for number in range(50):
        await asked(there, there.attempt(name=f"quick-{number}"))
    assert not any(task.done() for task in stuck)
    release.set()
    await asyncio.gather(*stuck)


@scenario
async def test_no_task_is_needed_to_ask(there: World, server: Server):
    """The HTTP layer drives its coroutines itself, without a task."""
    await there.configure(VALIDATING, "v", hook(server.on("x", lambda _: FINE)))

    async def change() -> str:
        await asked(there, there.attempt())
        return "done"

    outcome = eager.run(change(), asyncio.get_running_loop())
    assert isinstance(outcome, asyncio.Future)
    assert await outcome == "done"
