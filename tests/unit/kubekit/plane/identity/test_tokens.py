"""Tokens of service accounts, requested and used over HTTP."""

import base64
from datetime import timedelta
from random import Random

import msgspec
import pytest

from kubekit.client.options import PLAIN_WRITE, DeleteOptions
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.identity.service_accounts import issuer_of
from kubekit.plane.identity.web_tokens import SigningKey
from kubekit.plane.plane import Plane
from tests.support.kubekit.http_builders import Reply
from tests.support.kubekit.identity_builders import (
    ACCOUNTS,
    ADMIN,
    REVIEW,
    WHO,
    Allowing,
    IdentityWorld,
    house,
    new_plane,
    post,
    run,
    user_in,
)

HERE = issuer_of("/")
ROBOT = "system:serviceaccount:default:robot"


def bearer(token: str) -> str:
    return f"Authorization: Bearer {token}"


def claims_of(token: str) -> dict[str, object]:
    body = token.split(".")[1]
    claims: dict[str, object] = msgspec.json.decode(base64.urlsafe_b64decode(body + "==="))
    return claims


async def requested(here: IdentityWorld, document: object, name: str = "robot") -> Reply:
    header = bearer(here.tokens.issue(ADMIN))
    return await here.ask(post(f"{ACCOUNTS}/{name}/token", document, header))


async def reviewed(here: IdentityWorld, **spec: object) -> Reply:
    return await here.ask(post(REVIEW, {"spec": spec}, bearer(here.tokens.issue(ADMIN))))


async def another_plane(here: IdentityWorld) -> Plane:
    """A plane whose objects have uids of their own."""
    return await new_plane(here.directory / "other", ExecutionEnvironment(here.clock, Random(2)))


async def forget(here: IdentityWorld, kind: str, name: str) -> None:
    found = here.plane.kinds.require("v1", kind)
    await here.plane.registry.delete(found, "default", name, DeleteOptions())


def test_a_token_authenticates_its_account(tmp_path):
    """Name, uid, groups and the token's id are those of Kubernetes."""

    async def story():
        async with house(tmp_path) as here:
            uid = await here.make("ServiceAccount", "robot")
            token = await here.token()
            return uid, claims_of(token), user_in(await here.who(bearer(token)))

    uid, claims, user = run(story())
    assert user == {
        "username": ROBOT,
        "uid": uid,
        "groups": [
            "system:serviceaccounts",
            "system:serviceaccounts:default",
            "system:authenticated",
        ],
        "extra": {"authentication.kubernetes.io/credential-id": [f"JTI={claims['jti']}"]},
    }


def test_the_claims_are_those_of_kubernetes(tmp_path):
    """So that other programs can read them."""

    async def story():
        async with house(tmp_path) as here:
            uid = await here.make("ServiceAccount", "robot")
            now = int(here.clock.now.timestamp())
            return uid, now, claims_of(await here.token(expirationSeconds=600))

    uid, now, claims = run(story())
    assert claims.pop("jti")
    assert claims == {
        "aud": [HERE],
        "exp": now + 600,
        "iat": now,
        "iss": HERE,
        "kubernetes.io": {"namespace": "default", "serviceaccount": {"name": "robot", "uid": uid}},
        "nbf": now,
        "sub": ROBOT,
    }


def test_the_answer_tells_what_was_granted(tmp_path):
    """An hour where nothing is said, for the plane itself, and the account's own metadata."""

    async def story():
        async with house(tmp_path) as here:
            uid = await here.make("ServiceAccount", "robot")
            reply = await requested(here, {})
            end = here.clock.now + timedelta(hours=1)
            return uid, reply, f"{end:%Y-%m-%dT%H:%M:%SZ}"

    uid, reply, end = run(story())
    document = reply.document
    assert (reply.code, document["kind"]) == (201, "TokenRequest")
    assert document["metadata"].pop("creationTimestamp")
    assert document["metadata"] == {"name": "robot", "namespace": "default", "uid": uid}
    assert document["spec"] == {
        "audiences": [HERE],
        "expirationSeconds": 3600,
        "boundObjectRef": None,
    }
    assert document["status"]["expirationTimestamp"] == end


INVALID = (
    'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: '
)
REFUSED = {
    "too short": (
        {"spec": {"expirationSeconds": 599}},
        (422, f"{INVALID}599: may not specify a duration less than 10 minutes"),
    ),
    "nothing": (
        {"spec": {"expirationSeconds": 0}},
        (422, f"{INVALID}0: may not specify a duration less than 10 minutes"),
    ),
    "too long": (
        {"spec": {"expirationSeconds": 2**32 + 1}},
        (422, f"{INVALID}4294967297: may not specify a duration larger than 2^32 seconds"),
    ),
    "for too many": (
        {"spec": {"audiences": ["x" * 100] * 100}},
        (400, "spec.audiences: the token would be longer than 8192 characters"),
    ),
    "of another name": (
        {"metadata": {"name": "other"}},
        (
            422,
            'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: '
            '"other": must match the service account name if specified',
        ),
    ),
    "bound to what is no Secret": (
        {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}}},
        (400, "cannot bind token to object of type /v1, Kind=ConfigMap"),
    ),
    "bound to a kind of a group": (
        {"spec": {"boundObjectRef": {"apiVersion": "apps/v1", "kind": "Secret", "name": "a"}}},
        (400, "cannot bind token to object of type apps/v1, Kind=Secret"),
    ),
    "bound to nothing": (
        {"spec": {"boundObjectRef": {}}},
        (400, "cannot bind token to object of type /, Kind="),
    ),
    "bound to no name": (
        {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Secret"}}},
        (400, "Name parameter required."),
    ),
    "bound to a Secret that is not there": (
        {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": "a"}}},
        (404, 'secrets "a" not found'),
    ),
    "bound to another Secret of the name": (
        {
            "spec": {
                "boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": "tied", "uid": "7"}
            }
        },
        (
            409,
            'Operation cannot be fulfilled on Secret "tied": the UID in the bound object reference '
            "(7) does not match the UID in record. The object might have been deleted and then "
            "recreated",
        ),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_requests_that_are_refused(tmp_path, name):
    """In the words of Kubernetes."""
    document, expected = REFUSED[name]

    async def story():
        async with house(tmp_path) as here:
            await here.make("ServiceAccount", "robot")
            await here.make("Secret", "tied")
            reply = await requested(here, document)
            return reply.code, reply.document["message"]

    assert run(story()) == expected


def test_an_account_that_is_not_there_has_no_token(tmp_path):
    """Though its name could be one."""

    async def story():
        async with house(tmp_path) as here:
            reply = await requested(here, {}, "nosuch")
            return reply.code, reply.document["message"]

    assert run(story()) == (404, 'serviceaccounts "nosuch" not found')


def test_a_request_for_more_than_a_day_gets_a_warning(tmp_path):
    """The token is valid for a day, and there is a warning."""

    async def story():
        async with house(tmp_path) as here:
            await here.make("ServiceAccount", "robot")
            reply = await requested(here, {"spec": {"expirationSeconds": 90_000}})
            return reply.document["spec"]["expirationSeconds"], reply.headers.get("warning", "")

    seconds, warning = run(story())
    assert seconds == 86_400
    assert "requested expiration of 90000 seconds shortened to 86400 seconds" in warning


async def _delete_account(here: IdentityWorld) -> None:
    await forget(here, "ServiceAccount", "robot")


async def _replace_account(here: IdentityWorld) -> None:
    await _delete_account(here)
    await here.make("ServiceAccount", "robot")


async def _delete_secret(here: IdentityWorld) -> None:
    await forget(here, "Secret", "tied")


async def _replace_secret(here: IdentityWorld) -> None:
    await _delete_secret(here)
    await here.make("Secret", "tied")


async def _wait(here: IdentityWorld) -> None:
    here.clock.pass_(hours=1)


async def _go_back(here: IdentityWorld) -> None:
    here.clock.pass_(hours=-1)


ENDS = {
    "the account is gone": _delete_account,
    "the account is another one": _replace_account,
    "the Secret is gone": _delete_secret,
    "the Secret is another one": _replace_secret,
    "its time is over": _wait,
    "its time has not come": _go_back,
}


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("used", [True, False], ids=["used before", "never used"])
def test_a2_a_token_ends_with_what_it_rests_on(tmp_path, name, used):
    """At once, whether it was remembered or not, and the review of it says the same."""

    async def story():
        async with house(tmp_path) as here:
            await here.make("ServiceAccount", "robot")
            await here.make("Secret", "tied")
            bound = {"apiVersion": "v1", "kind": "Secret", "name": "tied"}
            token = await here.token(boundObjectRef=bound)
            if used and name != "its time has not come":
                assert (await here.who(bearer(token))).code == 201
            await ENDS[name](here)
            review = (await reviewed(here, token=token)).document["status"]
            return (await here.who(bearer(token))).code, review

    refused = {"user": {}, "error": "invalid bearer token"}
    assert run(story()) == (401, refused)


def test_a_change_of_the_account_does_not_end_its_tokens(tmp_path):
    """It is the same account, with a label more."""

    async def story():
        async with house(tmp_path) as here:
            await here.make("ServiceAccount", "robot")
            token = await here.token()
            first = await here.who(bearer(token))
            kind = here.plane.kinds.require("v1", "ServiceAccount")
            registry = here.plane.registry
            document = msgspec.json.decode(registry.get(kind, "default", "robot").data)
            document["metadata"]["labels"] = {"a": "b"}
            await registry.update(kind, "default", "robot", document, PLAIN_WRITE)
            return first.code, (await here.who(bearer(token))).code

    assert run(story()) == (201, 201)


def test_a2_a_token_for_others_is_none_for_the_plane(tmp_path):
    """Its audience is not the plane; the audience itself can review it."""

    async def story():
        async with house(tmp_path) as here:
            await here.make("ServiceAccount", "robot")
            token = await here.token(audiences=["vault"])
            code = (await here.who(bearer(token))).code
            known = (await reviewed(here, token=token, audiences=["x", "vault"])).document
            unknown = (await reviewed(here, token=token)).document
            return code, known["status"], unknown["status"]

    code, known, unknown = run(story())
    assert code == 401
    assert (known["authenticated"], known["audiences"]) == (True, ["vault"])
    assert known["user"]["username"] == ROBOT
    assert unknown == {
        "user": {},
        "error": '[invalid bearer token, token audiences ["vault"] is invalid for the target '
        f'audiences ["{HERE}"]]',
    }


def test_a_review_knows_every_accepted_token(tmp_path):
    """Those of users too; it needs the token itself."""

    async def story():
        async with house(tmp_path) as here:
            token = here.tokens.issue(ADMIN)
            good = (await reviewed(here, token=token)).document["status"]
            other = (await reviewed(here, token=token, audiences=["vault"])).document["status"]
            bad = (await reviewed(here, token="rubbish")).document["status"]
            none = await reviewed(here)
            return good, other, bad, (none.code, none.document["message"])

    good, other, bad, none = run(story())
    assert good == {
        "authenticated": True,
        "user": {"username": "admin", "groups": ["admins", "system:authenticated"]},
        "audiences": [HERE],
    }
    assert other == bad == {"user": {}, "error": "invalid bearer token"}
    assert none == (400, "token is required for TokenReview in authentication")


def test_a_self_review_returns_the_user_and_nothing_from_the_request(tmp_path):
    """Only the time of the answer is in its metadata."""
    asked = {"metadata": {"name": "a", "labels": {"a": "b"}}, "status": {"userInfo": {"uid": "7"}}}

    async def story():
        async with house(tmp_path) as here:
            reply = await here.ask(post(WHO, asked, bearer(here.tokens.issue(ADMIN))))
            return reply.document

    document = run(story())
    assert list(document["metadata"]) == ["creationTimestamp"]
    assert document["status"]["userInfo"]["username"] == "admin"
    assert "uid" not in document["status"]["userInfo"]


def test_t1_a_token_of_one_plane_is_none_in_another(tmp_path):
    """Neither to ask something nor to be reviewed, though one key has signed for both."""

    async def story():
        async with house(tmp_path) as here:
            other = await another_plane(here)
            here.server.mount("/clusters/b", other)
            try:
                await here.make("ServiceAccount", "robot")
                token = await here.token(audiences=[HERE, issuer_of("/clusters/b")])
                admin = bearer(here.tokens.issue(ADMIN))
                home = await here.who(bearer(token))
                away = await here.ask(post(f"/clusters/b{WHO}", {}, bearer(token)))
                review = post(f"/clusters/b{REVIEW}", {"spec": {"token": token}}, admin)
                asked = (await here.ask(review)).document["status"]
                everywhere = await here.ask(post(f"/clusters/b{WHO}", {}, admin))
                return home.code, away.code, asked.get("authenticated"), everywhere.code
            finally:
                here.server.unmount("/clusters/b")
                await other.close()

    assert run(story()) == (201, 401, None, 201)


def test_t1_the_same_account_of_another_plane_is_another_account(tmp_path):
    """A token of a plane that is not served any more is invalid, whatever plane is at its path."""

    async def story():
        async with house(tmp_path) as here:
            await here.make("ServiceAccount", "robot")
            token = await here.token()
            first = await here.who(bearer(token))
            here.server.unmount("/")
            other = await another_plane(here)
            here.server.mount("/", other)
            try:
                there = IdentityWorld(
                    tmp_path, here.server, other, here.tokens, here.certificates, here.clock
                )
                await there.make("ServiceAccount", "robot")
                return first.code, (await there.who(bearer(token))).code
            finally:
                await other.close()

    assert run(story()) == (201, 401)


def test_tokens_outlive_the_process_with_the_key(tmp_path):
    """A server that finds the key of the one before it lets its accounts in."""
    key = SigningKey.at(tmp_path / "sa.key")

    async def first():
        async with house(tmp_path, signing=key) as here:
            await here.make("ServiceAccount", "robot")
            return await here.token()

    async def second(token: str, key: SigningKey | None):
        async with house(tmp_path, signing=key) as here:
            return (await here.who(bearer(token))).code

    token = run(first())
    again = SigningKey.at(tmp_path / "sa.key")
    assert (run(second(token, again)), run(second(token, None))) == (201, 401)


def test_a7_a_service_account_can_be_acted_as(tmp_path):
    """The impersonating user has a certificate; the account needs no token."""

    async def story():
        access = Allowing([("serviceaccounts", "robot")])
        async with house(tmp_path, access) as here:
            context = here.context(here.client("zoe"))
            return user_in(await here.who(f"Impersonate-User: {ROBOT}", context=context))

    assert run(story()) == {
        "username": ROBOT,
        "groups": [
            "system:serviceaccounts",
            "system:serviceaccounts:default",
            "system:authenticated",
        ],
    }
