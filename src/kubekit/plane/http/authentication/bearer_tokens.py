"""Bearer tokens: random, shown once, and stored only as hashes in an owner-only file."""

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final

import msgspec

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.errors import PlaneError
from kubekit.plane.private_files import open_to_others, write_private
from kubekit.plane.users import User

_BYTES_OF_CHANCE: Final = 32


class TokensRefused(PlaneError):
    """The token file cannot be trusted or read. The message says which, and what to do."""


class _Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = {}
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    expires: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _File(msgspec.Struct, frozen=True, kw_only=True):
    tokens: tuple[_Entry, ...] = ()


class TokenGrant(msgspec.Struct, frozen=True, gc=False):
    """The user of a token, and when it expires; None means never."""

    user: User
    expires: datetime | None = None

    def is_valid(self, now: datetime) -> bool:
        return self.expires is None or now < self.expires


class Tokens:
    """The accepted tokens. Without a path they are lost when the process ends.

    The hash of a token is looked up, never the token itself. The time of a lookup may reveal the first
    byte that differs. But a client cannot choose the bytes of a hash, so it learns nothing about
    accepted tokens.
    """

    def __init__(self, path: Path | None, environment: ExecutionEnvironment) -> None:
        self._path = path
        self._now = environment.now
        entries = _read(path) if path is not None else ()
        self._grants = {bytes.fromhex(entry.sha256): _grant(entry) for entry in entries}
        self.generation = 0
        """Changes with each change of the tokens: results cached under another number are stale."""

    def __len__(self) -> int:
        return len(self._grants)

    def names(self) -> set[str]:
        """The names of the users with a token."""
        return {grant.user.name for grant in self._grants.values()}

    def issue(self, user: User, lifetime: timedelta | None = None) -> str:
        """A new token for a user. It cannot be shown again: only its hash is stored."""
        token = secrets.token_urlsafe(_BYTES_OF_CHANCE)
        self.accept(token, user, lifetime)
        return token

    def accept(self, token: str, user: User, lifetime: timedelta | None = None) -> None:
        """Accept a token that was issued elsewhere."""
        if not token:
            raise TokensRefused("an empty token is not a secret")
        expires = None if lifetime is None else self._now() + lifetime
        self._grants[_digest(token)] = TokenGrant(user, expires)
        self._save()

    def revoke(self, name: str) -> None:
        """Forget every token of a user."""
        self._grants = {d: grant for d, grant in self._grants.items() if grant.user.name != name}
        self._save()

    def user_of(self, authorization: str) -> User | None:
        """The user of an ``Authorization`` header."""
        grant = self.find(bearer(authorization))
        return None if grant is None else grant.user

    def find(self, token: str) -> TokenGrant | None:
        """The grant of a token, if it is valid now."""
        grant = self._grants.get(_digest(token))
        return grant if grant is not None and grant.is_valid(self._now()) else None

    def _save(self) -> None:
        """Save the change, and drop expired tokens on this occasion."""
        now = self._now()
        self._grants = {d: grant for d, grant in self._grants.items() if grant.is_valid(now)}
        self.generation += 1
        if self._path is not None:
            entries = tuple(_entry(digest, grant) for digest, grant in self._grants.items())
            document = msgspec.json.encode(_File(tokens=entries))
            write_private(self._path, msgspec.json.format(document) + b"\n")


def bearer(authorization: str) -> str:
    """The token in an ``Authorization`` header; empty for another scheme."""
    scheme, _, token = authorization.partition(" ")
    return token if scheme == "Bearer" or scheme.lower() == "bearer" else ""


def _read(path: Path) -> tuple[_Entry, ...]:
    try:
        content, open_ = path.read_bytes(), open_to_others(path)
    except FileNotFoundError:
        return ()
    except OSError as problem:
        raise TokensRefused(f"{path}: {problem.strerror}") from problem
    if open_:
        raise TokensRefused(f"{path} can be read by other users: run chmod 600 {path}")
    try:
        entries = msgspec.json.decode(content, type=_File).tokens
    except ValueError as problem:
        message = f"{path} is not a valid token file ({problem}): fix it or delete it"
        raise TokensRefused(message) from problem
    return entries


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _grant(entry: _Entry) -> TokenGrant:
    return TokenGrant(User(entry.name, entry.groups, entry.uid, entry.extra), entry.expires)


def _entry(digest: bytes, grant: TokenGrant) -> _Entry:
    user = grant.user
    return _Entry(
        name=user.name,
        groups=user.groups,
        uid=user.uid,
        extra=user.extra,
        sha256=digest.hex(),
        expires=grant.expires,
    )
