"""Identities: tokens of service accounts, their reviews, and reviews of the calling user."""

import base64
from collections.abc import Callable
from typing import Any, cast

import msgspec
import pytest

from kubekit.api import errors
from kubekit.api.kinds.authentication import SelfSubjectReview, TokenReview
from kubekit.api.kinds.core import Secret, ServiceAccount
from kubekit.client.options import PLAIN_WRITE
from kubekit.client.transport import Document, ResourceLocation, Transport
from tests.contract.collection import Collection, upto

Ask = Callable[..., Any]
INVALID = (
    'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: '
)


@pytest.fixture
def accounts(transport: Transport, space: str) -> Collection:
    return Collection(transport, ServiceAccount.RESOURCE, space)


@pytest.fixture
def token(transport: Transport, space: str) -> Ask:
    """Asks for a token of the account called robot."""

    async def ask(document: Document, name: str = "robot") -> Document:
        place = ResourceLocation(ServiceAccount.RESOURCE, space, name, cast("Any", "token"))
        return await transport.create(place, document, PLAIN_WRITE)

    return ask


@pytest.fixture
def review(transport: Transport) -> Ask:
    """Asks whose a token is."""

    async def ask(**spec: object) -> Document:
        place = ResourceLocation(TokenReview.RESOURCE)
        answer = await transport.create(place, {"spec": spec}, PLAIN_WRITE)
        status: Document = answer["status"]
        return status

    return ask


def claims_in(answer: Document) -> Document:
    body = answer["status"]["token"].split(".")[1]
    claims: Document = msgspec.json.decode(base64.urlsafe_b64decode(body + "==="))
    return claims


async def test_a_token_is_for_its_account(accounts, token, space):
    """The claims say whose it is, and the answer how long."""
    uid = (await accounts.make("robot"))["metadata"]["uid"]
    answer = await token({"spec": {"expirationSeconds": 700}})
    claims = claims_in(answer)

    assert answer["kind"] == "TokenRequest"
    assert answer["metadata"]["name"] == "robot"
    assert claims["sub"] == f"system:serviceaccount:{space}:robot"
    assert claims["kubernetes.io"] == {
        "namespace": space,
        "serviceaccount": {"name": "robot", "uid": uid},
    }
    assert claims["exp"] - claims["iat"] == 700
    assert claims["aud"] == answer["spec"]["audiences"] == [claims["iss"]]
    assert answer["spec"]["boundObjectRef"] is None


async def test_an_hour_is_the_usual_time(accounts, token):
    """Nothing need be said."""
    await accounts.make("robot")
    assert (await token({}))["spec"]["expirationSeconds"] == 3600


@pytest.mark.parametrize(
    ("document", "refusal", "message"),
    [
        (
            {"spec": {"expirationSeconds": 599}},
            errors.Invalid,
            f"{INVALID}599: may not specify a duration less than 10 minutes",
        ),
        (
            {"spec": {"expirationSeconds": 2**32 + 1}},
            errors.Invalid,
            f"{INVALID}4294967297: may not specify a duration larger than 2^32 seconds",
        ),
        (
            {"metadata": {"name": "other"}},
            errors.Invalid,
            'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: '
            '"other": must match the service account name if specified',
        ),
        (
            {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}}},
            errors.BadRequest,
            "cannot bind token to object of type /v1, Kind=ConfigMap",
        ),
        (
            {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": "a"}}},
            errors.NotFound,
            'secrets "a" not found',
        ),
    ],
    ids=["short", "long", "another name", "no Secret", "no such Secret"],
)
async def test_requests_that_are_refused(accounts, token, document, refusal, message):
    """With the same words everywhere."""
    await accounts.make("robot")
    with pytest.raises(refusal) as refused:
        await token(document)
    assert str(refused.value) == message


async def test_an_account_that_is_not_there_has_no_token(token):
    """Though its name could be one."""
    with pytest.raises(errors.NotFound, match='serviceaccounts "robot" not found'):
        await token({})


async def test_a_token_may_be_bound_to_a_secret(accounts, transport, token, space):
    """Which is named with the uid it has."""
    await accounts.make("robot")
    secret = await Collection(transport, Secret.RESOURCE, space).make("tied")
    reference = {"apiVersion": "v1", "kind": "Secret", "name": "tied"}
    claims = claims_in(await token({"spec": {"boundObjectRef": reference}}))
    assert claims["kubernetes.io"]["secret"] == {"name": "tied", "uid": secret["metadata"]["uid"]}


async def test_a_review_knows_a_token(accounts, token, review, space):
    """Name, uid, groups, and which token it was."""
    uid = (await accounts.make("robot"))["metadata"]["uid"]
    answer = await token({})
    status = await review(token=answer["status"]["token"])

    assert status["authenticated"] is True
    assert status["audiences"] == answer["spec"]["audiences"]
    assert status["user"] == {
        "username": f"system:serviceaccount:{space}:robot",
        "uid": uid,
        "groups": [
            "system:serviceaccounts",
            f"system:serviceaccounts:{space}",
            "system:authenticated",
        ],
        "extra": {
            "authentication.kubernetes.io/credential-id": [f"JTI={claims_in(answer)['jti']}"]
        },
    }


async def test_a_token_is_for_its_audiences_alone(accounts, token, review):
    """A review names the audiences that it is for."""
    await accounts.make("robot")
    made = (await token({"spec": {"audiences": ["vault"]}}))["status"]["token"]
    known, unknown = await review(token=made, audiences=["x", "vault"]), await review(token=made)

    assert (known["authenticated"], known["audiences"]) == (True, ["vault"])
    assert "authenticated" not in unknown
    assert unknown["error"].startswith(
        '[invalid bearer token, token audiences ["vault"] is invalid'
    )


async def test_an_invalid_token_has_no_user(review):
    """The error says no more than that."""
    assert await review(token="rubbish") == {"user": {}, "error": "invalid bearer token"}


async def test_a_review_needs_a_token(review):
    """Without one there is nothing to answer."""
    with pytest.raises(errors.BadRequest, match="token is required for TokenReview"):
        await review()


async def test_a_self_review_names_the_calling_user(transport):
    """Only the time of the answer is in its metadata, whatever the question said."""
    asked = {"metadata": {"name": "a"}, "status": {"userInfo": {"username": "another user"}}}
    answer = await transport.create(
        ResourceLocation(SelfSubjectReview.RESOURCE), asked, PLAIN_WRITE
    )
    user = answer["status"]["userInfo"]

    assert list(answer["metadata"]) == ["creationTimestamp"]
    assert user["username"] not in ("", "another user")
    assert "system:authenticated" in user["groups"]


@pytest.mark.controllers
async def test_every_namespace_has_an_account(accounts):
    """It is called default, and is there soon after the namespace."""
    async with accounts.watch() as events:
        assert await upto(events, "ADDED", "default")
