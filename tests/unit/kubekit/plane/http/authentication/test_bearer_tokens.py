"""Bearer tokens: shown once, stored as hashes, in an owner-only file."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from msgspec.structs import replace

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.authentication.bearer_tokens import TokenGrant, Tokens, TokensRefused
from kubekit.plane.users import User

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HERE = ExecutionEnvironment(now=lambda: NOW, chance=Random(1))
ADMIN = User("admin", ("system:masters",))


def test_a_token_speaks_for_its_user(tmp_path):
    """Also after a restart, when only the file is left."""
    path = tmp_path / "tokens"
    token = Tokens(path, HERE).issue(ADMIN)
    assert Tokens(path, HERE).user_of(f"Bearer {token}") == ADMIN


def test_the_file_holds_no_token_and_is_for_its_owner_only(tmp_path):
    """Reading the file does not give access."""
    path = tmp_path / "private" / "tokens"
    token = Tokens(path, HERE).issue(ADMIN)
    assert token not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


def test_tokens_are_long_and_never_the_same():
    """256 bits of chance, which is the system's and no seed's."""
    tokens = Tokens(None, HERE)
    issued = {tokens.issue(ADMIN) for _ in range(100)}
    assert len(issued) == len(tokens) == 100
    assert min(map(len, issued)) >= 43


@pytest.mark.parametrize(
    ("header", "known"),
    [
        ("Bearer secret", True),
        ("bearer secret", True),
        ("BEARER secret", True),
        ("", False),
        ("secret", False),
        ("Bearer", False),
        ("Bearer ", False),
        ("Bearer  secret", False),
        ("Bearer secret ", False),
        ("Bearer Secret", False),
        ("Basic secret", False),
        ("Bearer secret, Bearer secret", False),
        ("Bearer \udcff", False),
    ],
)
def test_only_the_exact_token_is_accepted(header, known):
    """The word Bearer may be spelled in any case, the token may not."""
    tokens = Tokens(None, HERE)
    tokens.accept("secret", ADMIN)
    assert (tokens.user_of(header) == ADMIN) is known


def test_a_token_ends_with_its_lifetime():
    """At the very moment it ends it is not known any more."""
    clock = [NOW]
    later = replace(HERE, now=lambda: clock[0])
    tokens = Tokens(None, later)
    token = tokens.issue(ADMIN, timedelta(hours=1))
    clock[0] = NOW + timedelta(minutes=59)
    assert tokens.user_of(f"Bearer {token}") == ADMIN
    clock[0] = NOW + timedelta(hours=1)
    assert tokens.user_of(f"Bearer {token}") is None


def test_tokens_of_a_revoked_user_are_refused(tmp_path):
    """All tokens of the user are removed, those of others stay, in the file too."""
    path = tmp_path / "tokens"
    tokens = Tokens(path, HERE)
    gone, stays = tokens.issue(ADMIN), tokens.issue(User("other"))
    tokens.revoke("admin")
    again = Tokens(path, HERE)
    assert tokens.user_of(f"Bearer {gone}") is again.user_of(f"Bearer {gone}") is None
    assert again.user_of(f"Bearer {stays}") == User("other")


def test_all_attributes_of_a_user_outlive_a_restart(tmp_path):
    """Groups, uid and extra."""
    path = tmp_path / "tokens"
    user = User("zoe", ("a", "b"), "7", {"team": ("x",)})
    token = Tokens(path, HERE).issue(user, timedelta(hours=1))
    assert Tokens(path, HERE).find(token) == TokenGrant(user, NOW + timedelta(hours=1))


def test_what_has_expired_is_forgotten_at_the_next_change(tmp_path):
    """The file does not grow with every token that there ever was."""
    clock = [NOW]
    tokens = Tokens(tmp_path / "tokens", replace(HERE, now=lambda: clock[0]))
    tokens.issue(ADMIN, timedelta(hours=1))
    clock[0] = NOW + timedelta(hours=1)
    tokens.issue(User("other"))
    assert len(tokens) == len(Tokens(tmp_path / "tokens", HERE)) == 1


def test_an_empty_token_is_never_accepted():
    """It would accept requests without a token."""
    with pytest.raises(TokensRefused, match="empty"):
        Tokens(None, HERE).accept("", ADMIN)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_can_read_is_refused(tmp_path, mode):
    """The message names the command that mends it."""
    path = tmp_path / "tokens"
    Tokens(path, HERE).issue(ADMIN)
    path.chmod(mode)
    with pytest.raises(TokensRefused, match="chmod 600"):
        Tokens(path, HERE)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "rubbish",
        "[]",
        '{"tokens":[{"name":"a","sha256":"zz"}]}',
        '{"tokens":[{"name":1}]}',
        f'{{"tokens":[{{"name":"a","sha256":"{"0" * 64}","expires":"2026-03-01T00:00:00"}}]}}',
        '{"tokens":[{"name":"a","sha256":"00"}]}',
    ],
    ids=["empty", "rubbish", "list", "no hash", "no text", "no zone", "half a hash"],
)
def test_a_broken_file_is_named(tmp_path, content):
    """It is not taken for an empty one: that would lock all users out without an error."""
    path = tmp_path / "tokens"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(TokensRefused, match="is not a valid token file"):
        Tokens(path, HERE)


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    """A folder in its place, say."""
    with pytest.raises(TokensRefused, match="directory"):
        Tokens(tmp_path, HERE)
