"""Bearer tokens: random, told once, kept only as hashes in a file that nobody else may read."""

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
    """The file of tokens cannot be trusted or read. Says which file, and what to do."""


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
    """Whom a token speaks for, and until when; None is for ever."""

    user: User
    expires: datetime | None = None

    def holds(self, now: datetime) -> bool:
        return self.expires is None or now < self.expires


class Tokens:
    """Everybody who may come in. Without a path nothing outlives the process.

    The hash of a token is looked up, never the token. A lookup ends at the first byte that differs,
    and how long it takes may be seen; but nobody can choose the bytes of a hash, so what is seen
    tells nothing about a token that is known.
    """

    def __init__(self, path: Path | None, environment: ExecutionEnvironment) -> None:
        self._path = path
        self._now = environment.now
        entries = _read(path) if path is not None else ()
        self._grants = {bytes.fromhex(entry.sha256): _grant(entry) for entry in entries}
        self.generation = 0
        """Another number after each change. What was found out under the old one may be wrong."""

    def __len__(self) -> int:
        return len(self._grants)

    def names(self) -> set[str]:
        """The names of the users who have a token."""
        return {grant.user.name for grant in self._grants.values()}

    def issue(self, user: User, lifetime: timedelta | None = None) -> str:
        """A new token for a user. Nobody can tell it again: only its hash is kept."""
        token = secrets.token_urlsafe(_BYTES_OF_CHANCE)
        self.accept(token, user, lifetime)
        return token

    def accept(self, token: str, user: User, lifetime: timedelta | None = None) -> None:
        """Let a token in that was made elsewhere."""
        if not token:
            raise TokensRefused("an empty token is no secret")
        expires = None if lifetime is None else self._now() + lifetime
        self._grants[_digest(token)] = TokenGrant(user, expires)
        self._save()

    def revoke(self, name: str) -> None:
        """Forget every token of a user."""
        self._grants = {d: grant for d, grant in self._grants.items() if grant.user.name != name}
        self._save()

    def user_of(self, authorization: str) -> User | None:
        """Whom an ``Authorization`` header speaks for."""
        grant = self.find(bearer(authorization))
        return None if grant is None else grant.user

    def find(self, token: str) -> TokenGrant | None:
        """What a token grants now."""
        grant = self._grants.get(_digest(token))
        return grant if grant is not None and grant.holds(self._now()) else None

    def _save(self) -> None:
        """Keep the change, and forget what has expired on this occasion."""
        now = self._now()
        self._grants = {d: grant for d, grant in self._grants.items() if grant.holds(now)}
        self.generation += 1
        if self._path is not None:
            entries = tuple(_entry(digest, grant) for digest, grant in self._grants.items())
            document = msgspec.json.encode(_File(tokens=entries))
            write_private(self._path, msgspec.json.format(document) + b"\n")


def bearer(authorization: str) -> str:
    """The token in an ``Authorization`` header; empty for a header of another kind."""
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
        message = f"{path} is no file of tokens ({problem}): mend it or delete it"
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
