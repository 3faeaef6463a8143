"""Who asks, without a socket: what is kept, for how long, and that it is not too much."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.authentication import authenticator as subject
from kubekit.plane.http.authentication.authenticator import Authenticator
from kubekit.plane.http.authentication.bearer_tokens import Tokens
from kubekit.plane.http.certificates.authority import Certificates
from kubekit.plane.http.messages import Caller, ServerRequest
from kubekit.plane.identity.identities import Identity, authenticated
from kubekit.plane.users import ANONYMOUS, User
from tests.support.kubekit.identity_builders import Clock

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ZOE = User("zoe", ("a",))


def surroundings() -> tuple[Clock, ExecutionEnvironment]:
    clock = Clock(NOW)
    return clock, ExecutionEnvironment(now=clock, chance=Random(1))


def asking(token: str = "", certificate: bytes = b"", path: str = "/api") -> ServerRequest:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return ServerRequest("GET", path, headers=headers, caller=Caller("192.0.2.1", certificate))


def test_every_identity_is_in_the_group_of_authenticated_users():
    """Every identity has the group system:authenticated."""
    _, environment = surroundings()
    tokens = Tokens(None, environment)
    request = asking(tokens.issue(ZOE))
    known = Authenticator(tokens, environment).user_of(request)
    assert known == Identity(User("zoe", ("a", "system:authenticated")), "token")


@pytest.mark.parametrize(
    ("user", "groups"),
    [
        (User("zoe"), ("system:authenticated",)),
        (User("zoe", ("system:authenticated", "a")), ("system:authenticated", "a")),
        (User("zoe", ("system:unauthenticated",)), ("system:unauthenticated",)),
        (ANONYMOUS, ANONYMOUS.groups),
        (User("system:anonymous"), ()),
    ],
)
def test_the_group_of_authenticated_users(user, groups):
    """It is added once, and never to the anonymous user."""
    assert authenticated(user).groups == groups


def test_a_cached_identity_equals_a_fresh_one():
    """The same answer twice, until the token is revoked, expires, or is given to another."""
    clock, environment = surroundings()
    tokens = Tokens(None, environment)
    known = Authenticator(tokens, environment)
    tokens.accept("one", ZOE, timedelta(hours=1))
    tokens.accept("two", User("bob"))
    names = [_name(known, "one"), _name(known, "one"), _name(known, "two")]
    tokens.accept("two", User("eve"))
    names.append(_name(known, "two"))
    clock.pass_(hours=1)
    names.append(_name(known, "one"))
    tokens.revoke("eve")
    names.append(_name(known, "two"))
    assert names == ["zoe", "zoe", "bob", "eve", None, None]


def _name(known: Authenticator, token: str) -> str | None:
    identity = known.user_of(asking(token))
    return None if identity is None else identity.user.name


def test_the_cache_is_bounded(monkeypatch):
    """A dropped entry is authenticated again, and a refused header is not cached at all."""
    monkeypatch.setattr(subject, "MOST_KEPT", 2)
    _, environment = surroundings()
    tokens = Tokens(None, environment)
    known = Authenticator(tokens, environment)
    for name in ("a", "b", "c"):
        tokens.accept(name, User(name))
    assert [_name(known, name) for name in "abcabcx"] == [*"abcabc", None]


def test_a_certificate_counts_where_there_is_an_authority(tmp_path):
    """Without TLS it was not verified, so it is ignored."""
    clock, environment = surroundings()
    certificates = Certificates(tmp_path, clock.now)
    pair = certificates.issue_client("zoe", ["a"], timedelta(hours=1), clock.now)
    shown = x509.load_pem_x509_certificate(pair.certificate).public_bytes(
        serialization.Encoding.DER
    )
    tokens = Tokens(None, environment)
    found = Authenticator(tokens, environment, certificates).user_of(asking("", shown))
    assert found is not None
    assert (found.user.name, found.how) == ("zoe", "certificate")
    assert Authenticator(tokens, environment).user_of(asking("", shown)) is None


def test_the_head_of_a_request_is_judged_like_the_whole():
    """By token and time; anonymous clients cannot send large bodies."""
    clock, environment = surroundings()
    tokens = Tokens(None, environment)
    known = Authenticator(tokens, environment, anonymous_health=True)
    tokens.accept("one", ZOE, timedelta(hours=1))
    head = {"authorization": "Bearer one"}
    answers = [known.is_authenticated(head, Caller()), known.is_authenticated({}, Caller())]
    clock.pass_(hours=1)
    assert [*answers, known.is_authenticated(head, Caller())] == [True, False, False]
