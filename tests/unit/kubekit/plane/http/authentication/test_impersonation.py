"""Impersonation: with the permission for it, and by headers that cannot be misread."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given, settings, strategies as st

from kubekit.api.errors import BadRequest, Forbidden, Unauthorized
from kubekit.plane.http.authentication.impersonation import in_plane
from kubekit.plane.http.messages import ServerRequest
from kubekit.plane.identity.identities import Identity
from kubekit.plane.users import ANONYMOUS, User
from tests.support.generated import depth
from tests.support.kubekit.http_builders import Reply
from tests.support.kubekit.identity_builders import (
    ADMIN,
    WHO,
    Allowing,
    IdentityWorld,
    house,
    raw_post,
    user_in,
)

ASKER = Identity(User("admin", ("admins", "system:authenticated")), "token")
AUTHENTICATED = "system:authenticated"


class Anything:
    """A registry, of which only the identity counts."""


class Plane:
    """A plane, of which only the registry counts."""

    def __init__(self) -> None:
        self.registry = Anything()


class Everything:
    """An access rule that writes down what it allows."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def check(self, plane, user: User, attributes) -> None:
        place = f"{attributes.namespace}/" if attributes.namespace else ""
        part = f"/{attributes.subresource}" if attributes.subresource else ""
        group = f".{attributes.group}" if attributes.group else ""
        what = f"{attributes.resource}{part}{group} {place}{attributes.name}"
        self.asked.append(f"{user.name} {attributes.verb} {what}")


def asked(headers: dict[str, str], repeated=None) -> tuple[Identity, list[str]]:
    """Who acts, and what had to be allowed for it."""
    access = Everything()
    request = ServerRequest("GET", "/api", headers=headers, repeated=repeated)
    identity = in_plane(ASKER, request, Plane(), access)  # type: ignore[arg-type]  # as much as is asked for
    return identity, access.asked


def test_without_headers_there_is_no_impersonation():
    """Without such headers the identity stays, and no permission is checked."""
    assert asked({"host": "a", "accept": "b", "connection": "keep-alive"}) == (ASKER, [])


@pytest.mark.parametrize("name", ["x-impersonate-user", "no-impersonate", "x-impersonate"])
def test_a7_headers_of_another_family_say_nothing(name):
    """Another header that only contains the word is none of these."""
    assert asked({"host": "a", name: "zoe"}) == (ASKER, [])


def test_a_user_with_groups_uid_and_extra():
    """Each part needs a right of its own; a group may hold commas, a key may be escaped."""
    headers = {
        "impersonate-user": "zoe",
        "impersonate-group": "a, b, c",
        "impersonate-uid": "7",
        "impersonate-extra-example.com%2fscopes": "x, y",
    }
    repeated = {
        "impersonate-group": ["a, b", "c"],
        "impersonate-extra-example.com%2fscopes": ["x", "y"],
    }
    identity, rights = asked(headers, repeated)

    assert identity.user == User(
        "zoe", ("a, b", "c", AUTHENTICATED), "7", {"example.com/scopes": ("x", "y")}
    )
    assert (identity.how, identity.original) == ("token", ASKER.user)
    extras = "userextras/example.com/scopes.authentication.k8s.io"
    assert rights == [
        "admin impersonate users zoe",
        "admin impersonate groups a, b",
        "admin impersonate groups c",
        f"admin impersonate {extras} x",
        f"admin impersonate {extras} y",
        "admin impersonate uids.authentication.k8s.io 7",
    ]


def test_two_spellings_of_a_key_are_one():
    """Escaped and not, the values are of the same key, in the order they came."""
    headers = {
        "impersonate-user": "zoe",
        "impersonate-extra-team": "a",
        "impersonate-extra-te%61m": "b",
    }
    assert asked(headers)[0].user.extra == {"team": ("a", "b")}


@pytest.mark.parametrize(
    ("name", "groups", "expected", "right"),
    [
        ("zoe", (), (AUTHENTICATED,), "users zoe"),
        ("zoe", ("x", AUTHENTICATED), ("x", AUTHENTICATED), "users zoe"),
        ("zoe", ("system:unauthenticated",), ("system:unauthenticated",), "users zoe"),
        (ANONYMOUS.name, (), ANONYMOUS.groups, "users system:anonymous"),
        (ANONYMOUS.name, ("a",), ("a", *ANONYMOUS.groups), "users system:anonymous"),
        (
            "system:serviceaccount:ns:robot",
            (),
            ("system:serviceaccounts", "system:serviceaccounts:ns", AUTHENTICATED),
            "serviceaccounts ns/robot",
        ),
        ("system:serviceaccount:ns:robot", ("a",), ("a", AUTHENTICATED), "serviceaccounts ns/robot"),
        ("system:serviceaccount:ns", (), (AUTHENTICATED,), "users system:serviceaccount:ns"),
        (
            "system:serviceaccount:ns:a:b",
            (),
            (AUTHENTICATED,),
            "users system:serviceaccount:ns:a:b",
        ),
        (
            "system:serviceaccount:Ns:a",
            (),
            (AUTHENTICATED,),
            "users system:serviceaccount:Ns:a",
        ),
        ("jos\u00c3\u00a9", (), (AUTHENTICATED,), "users jos\u00e9"),
    ],
    ids=[
        "no groups", "known already", "unknown already", "anonymous", "anonymous in a group",
        "account", "account in a group", "half an account", "more than an account",
        "no account's name", "utf-8",
    ],
)  # fmt: skip
def test_implied_groups(name, groups, expected, right):
    """Who is not anonymous is authenticated, and a service account is in its groups."""
    headers = {"impersonate-user": name} | ({"impersonate-group": groups[0]} if groups else {})
    identity, rights = asked(headers, {"impersonate-group": groups} if groups else None)
    assert identity.user.groups == expected
    assert rights[0] == f"admin impersonate {right}"


WRONG: dict[str, list[bytes]] = {
    "a user twice": [b"Impersonate-User: zoe", b"Impersonate-User: bob"],
    "the same user twice": [b"Impersonate-User: zoe", b"Impersonate-User: zoe"],
    "a user in two cases": [b"Impersonate-User: zoe", b"IMPERSONATE-USER: bob"],
    "an empty user": [b"Impersonate-User:"],
    "a blank user": [b"Impersonate-User:   "],
    "an empty user and another": [b"Impersonate-User:", b"Impersonate-User: zoe"],
    "a group alone": [b"Impersonate-Group: a"],
    "a uid alone": [b"Impersonate-Uid: 7"],
    "an extra alone": [b"Impersonate-Extra-team: a"],
    "an empty group": [b"Impersonate-User: zoe", b"Impersonate-Group:"],
    "an empty group and another": [
        b"Impersonate-User: zoe", b"Impersonate-Group: a", b"Impersonate-Group:"
    ],
    "an empty uid": [b"Impersonate-User: zoe", b"Impersonate-Uid:"],
    "a uid twice": [b"Impersonate-User: zoe", b"Impersonate-Uid: 7", b"Impersonate-Uid: 8"],
    "an empty extra": [b"Impersonate-User: zoe", b"Impersonate-Extra-team:"],
    "an extra without a key": [b"Impersonate-User: zoe", b"Impersonate-Extra-: a"],
    "a broken escape": [b"Impersonate-User: zoe", b"Impersonate-Extra-a%zz: a"],
    "half an escape": [b"Impersonate-User: zoe", b"Impersonate-Extra-a%2: a"],
    "an escaped NUL": [b"Impersonate-User: zoe", b"Impersonate-Extra-a%00: a"],
    "a key that is no UTF-8": [b"Impersonate-User: zoe", b"Impersonate-Extra-a%ff: a"],
    "a name that is no UTF-8": [b"Impersonate-User: zo\xff"],
    "a name with a tab": [b"Impersonate-User: zo\te"],
    "a name with a separator": ["Impersonate-User: zo\u2028e".encode()],
    "an unknown one": [b"Impersonate-User: zoe", b"Impersonate-Foo: x"],
    "an unknown one alone": [b"Impersonate-Foo: x"],
    "the bare word": [b"Impersonate: zoe"],
    "an underscore": [b"Impersonate_User: zoe"],
    "asked to be dropped": [b"Impersonate-User: zoe", b"Connection: Impersonate-User"],
    "asked to be dropped among others": [
        b"Connection: keep-alive, impersonate-GROUP", b"Impersonate-User: zoe"
    ],
    "asked to be dropped, and gone": [b"Connection: close, Impersonate-User"],
    "folded": [b"Impersonate-User: zoe", b" bob"],
    "folded by a tab": [b"Impersonate-User: zoe", b"\tbob"],
    "folded to nothing": [b"Impersonate-User:", b" zoe"],
    "a NUL": [b"Impersonate-User: zoe\x00"],
    "a control character": [b"Impersonate-User: zo\x01e"],
    "a bare carriage return": [b"Impersonate-User: zoe\rImpersonate-Group: a"],
    "a blank before the colon": [b"Impersonate-User : zoe"],
    "a NUL in the header's name": [b"Impersonate-User\x00: zoe"],
}  # fmt: skip


@pytest.fixture(scope="module")
def running_server(tmp_path_factory) -> Iterator[tuple[asyncio.Runner, IdentityWorld, Allowing]]:
    """One house for all attempts; the administrator may act as zoe, bob, and with what they have."""
    rights = [("users", "zoe"), ("users", "bob"), ("groups", "a"), ("uids", "7")]
    access = Allowing([*rights, ("userextras", "a")])
    with asyncio.Runner() as runner:
        entrance = house(tmp_path_factory.mktemp("house"), access)
        yield runner, runner.run(entrance.__aenter__()), access
        runner.run(entrance.__aexit__(None, None, None))


def sent(running_server, *headers: bytes) -> Reply:
    runner, here, _ = running_server
    credential = f"Authorization: Bearer {here.tokens.issue(ADMIN)}".encode()
    reply: Reply = runner.run(here.ask(raw_post(WHO, b"{}", credential, *headers)))
    return reply


@pytest.mark.parametrize("name", WRONG)
def test_a7_headers_that_could_be_misread_are_refused(running_server, name):
    """Though each name in them may be acted as: none is ignored, and none is trusted."""
    reply = sent(running_server, *WRONG[name])
    assert (reply.code, reply.document["kind"]) == (400, "Status")


@pytest.mark.parametrize(
    "headers",
    [
        [b"Impersonate-User: eve"],
        [b"Impersonate-User: system:masters"],
        [b"Impersonate-User: zoe, eve"],
        [b"Impersonate-User: zoe", b"Impersonate-Group: system:masters"],
        [b"Impersonate-User: zoe", b"Impersonate-Group: a", b"Impersonate-Group: system:masters"],
        [b"Impersonate-User: zoe", b"Impersonate-Group: a, system:masters"],
        [b"Impersonate-User: zoe", b"Impersonate-Uid: 8"],
        [b"Impersonate-User: zoe", b"Impersonate-Extra-team: b"],
        [b"Impersonate-User: system:serviceaccount:default:robot"],
        [b"Impersonate-User: system:anonymous"],
    ],
    ids=lambda headers: b" ".join(headers).decode(),
)
def test_a7_what_is_not_allowed_is_refused(running_server, headers):
    """One part that may not be taken on is enough, wherever it stands."""
    assert sent(running_server, *headers).code == 403


def test_a7_the_whole_chain_works(running_server):
    """With the rights, the plane answers as if zoe had asked."""
    headers = (b"Impersonate-User: zoe", b"impersonate-GROUP: a", b"Impersonate-Extra-Team: a")
    assert user_in(sent(running_server, *headers)) == {
        "username": "zoe",
        "groups": ["a", AUTHENTICATED],
        "extra": {"team": ["a"]},
    }


def test_a7_an_impersonating_request_needs_the_permissions_of_the_other_user(running_server):
    """The request itself is authorized as the impersonated user."""
    _, _, access = running_server
    access.asked.clear()
    sent(running_server, b"Impersonate-User: zoe")
    assert [(name, a.verb) for name, a in access.asked] == [
        ("admin", "impersonate"),
        ("zoe", "create"),
    ]


@pytest.mark.parametrize("name", [b"Impersonate-User: zoe", b"Authorization: Bearer x"])
def test_a7_nothing_of_this_comes_after_the_body(running_server, name):
    """A trailer is read too late to count, and so it must not be there."""
    runner, here, _ = running_server
    credential = f"Authorization: Bearer {here.tokens.issue(ADMIN)}".encode()
    kind = (b"Content-Type: application/json", b"Transfer-Encoding: chunked")
    head = b"\r\n".join((f"POST {WHO} HTTP/1.1".encode(), b"Host: localhost", credential, *kind))
    body = b"2\r\n{}\r\n0\r\n" + name + b"\r\n\r\n"
    assert runner.run(here.ask(head + b"\r\n\r\n" + body)).code == 400


def test_a_user_of_another_plane_is_refused():
    """A service account's token is valid in its own plane only."""
    foreign = Identity(ASKER.user, "serviceaccount", registry=Anything())  # type: ignore[arg-type]  # by identity only
    with pytest.raises(Unauthorized):
        in_plane(foreign, ServerRequest("GET", "/api"), Plane(), Everything())  # type: ignore[arg-type]  # as much as is asked for


@settings(max_examples=depth.examples(200))
@given(
    st.dictionaries(
        st.sampled_from(
            ["impersonate-user", "impersonate-group", "impersonate-uid", "impersonate-extra-a",
             "impersonate-extra-", "impersonate-", "connection", "host"]
        ),
        st.lists(st.text(st.characters(max_codepoint=255), max_size=4), min_size=1, max_size=3),
    )
)  # fmt: skip
def test_a7_the_client_never_keeps_its_own_permissions_by_accident(headers):
    """Whatever the headers are: refused, or applied, or unrelated."""
    joined = {name: ", ".join(values) for name, values in headers.items()}
    try:
        identity, rights = asked(joined, headers)
    except (BadRequest, Forbidden):
        return
    meant = [name for name in headers if name.startswith("impersonate")]
    assert bool(meant) == (identity.original is not None) == bool(rights)
    if meant:
        assert len(rights) == sum(len(headers[name]) for name in meant)
