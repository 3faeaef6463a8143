"""What a plane answers that no server serves, and tokens that only look like ours."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from kubekit.client.options import PLAIN_WRITE
from kubekit.plane.identity.service_accounts import (
    BoundObject,
    ServiceAccounts,
    TokenBinding,
    issuer_of,
    read_claims,
)
from kubekit.plane.identity.virtual_handlers import register_standalone
from kubekit.plane.identity.web_tokens import SigningKey
from kubekit.plane.registry import builtins
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.registry.ownership import meta_of
from kubekit.plane.registry.virtual_kinds import VirtualRequest
from kubekit.plane.users import User
from tests.support.kubekit.registry_builders import SPACE, World, scenario

REVIEWS = {kind.resource.kind: kind for kind in builtins.reviews()}
KEY = SigningKey.generate()


async def asked(world: World, kind: str, document: dict[str, object], user: User) -> object:
    question = VirtualRequest(kind=REVIEWS[kind], document=document, user=user)
    return (await world.registry.handle_virtual(question))["status"]


@scenario
async def test_a_plane_alone_answers_for_itself(world):
    """Its tokens are valid in this plane, until it is closed."""
    world.registry.kinds = Kinds((*world.registry.kinds, *builtins.reviews()))
    register_standalone(world.registry, world.surroundings)
    accounts = world.registry.kinds.require("v1", "ServiceAccount")
    await world.registry.create(accounts, SPACE, {"metadata": {"name": "robot"}}, PLAIN_WRITE)
    request = VirtualRequest(
        kind=accounts, namespace=SPACE, name="robot", subresource="token", document={}
    )
    token = (await world.registry.handle_virtual(request))["status"]["token"]
    good = await asked(world, "TokenReview", {"spec": {"token": token}}, User("zoe"))
    bad = await asked(world, "TokenReview", {"spec": {"token": token[:-1]}}, User("zoe"))
    own = await asked(world, "SelfSubjectReview", {}, User("zoe", ("a",)))

    assert isinstance(good, dict)
    assert (good["authenticated"], good["audiences"]) == (True, [issuer_of("/")])
    assert bad == {"user": {}, "error": "invalid bearer token"}
    assert own == {"userInfo": {"username": "zoe", "groups": ["a"]}}


async def token_of(world: World, **changes: object) -> tuple[ServiceAccounts, str]:
    """A token of an account that is there, with some of its claims changed and signed again."""
    accounts = ServiceAccounts(world.registry, KEY, issuer_of("/"), world.surroundings)
    kind = world.registry.kinds.require("v1", "ServiceAccount")
    document = {"metadata": {"name": "robot"}}
    made = await world.registry.create(kind, SPACE, document, PLAIN_WRITE)
    binding = TokenBinding(SPACE, BoundObject("robot", meta_of(made.record).uid))
    token, _ = accounts.issue(binding, [accounts.issuer], timedelta(hours=1))
    claims = msgspec.json.decode(KEY.read(token) or b"") | changes
    return accounts, KEY.sign(msgspec.json.encode(claims))


@pytest.mark.parametrize(
    ("changes", "known"),
    [
        ({}, True),
        ({"more": 1}, True),
        ({"sub": "system:serviceaccount:default:admin"}, False),
        ({"sub": "admin"}, False),
        ({"iss": issuer_of("/other")}, False),
        ({"exp": 0}, False),
        ({"nbf": 2**40}, False),
        ({"exp": "never"}, False),
        ({"aud": "all"}, False),
        ({"kubernetes.io": {"namespace": SPACE}}, False),
        ({"kubernetes.io": {"namespace": "", "serviceaccount": {"name": "", "uid": ""}}}, False),
    ],
    ids=str,
)
@scenario
async def test_every_claim_counts(world, changes, known):
    """Even what our own key has signed must fit together."""
    accounts, token = await token_of(world, **changes)
    assert (accounts.authenticate_token(token) is not None) is known


def test_signed_content_without_claims_is_refused():
    """The key may have been used for something else."""
    assert read_claims(KEY, KEY.sign(b"rubbish")) is None
    assert read_claims(KEY, "rubbish") is None


@scenario
async def test_a_token_ends_on_the_second(world):
    """It is valid up to the moment that the response of its request names."""
    accounts, token = await token_of(world)
    claims = read_claims(KEY, token)
    assert claims is not None
    holder = accounts.verify(claims)
    assert holder is not None
    assert holder.expires == datetime.fromtimestamp(claims.exp, UTC)
