"""Bearer tokens: random, told once, kept only as hashes in a file that nobody else may read."""

import os
import secrets
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final

import msgspec

from compute.plane.environment import Environment
from compute.plane.users import User

_OWNER_ONLY: Final = 0o600
_BYTES_OF_CHANCE: Final = 32


class TokensRefused(Exception):
    """The file of tokens cannot be trusted or read. Says which file, and what to do."""


class _Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    groups: tuple[str, ...] = ()
    sha256: str
    expires: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _File(msgspec.Struct, frozen=True, kw_only=True):
    tokens: tuple[_Entry, ...] = ()


class Tokens:
    """Everybody who may come in. Without a path nothing outlives the process."""

    def __init__(self, path: Path | None, environment: Environment) -> None:
        self._path = path
        self._now = environment.now
        entries = _read(path) if path is not None else ()
        self._known = {bytes.fromhex(entry.sha256): entry for entry in entries}
        self._users = {digest: _user(entry) for digest, entry in self._known.items()}

    def __len__(self) -> int:
        return len(self._known)

    def issue(self, user: User, lifetime: timedelta | None = None) -> str:
        """A new token for a user. Nobody can tell it again: only its hash is kept."""
        token = secrets.token_urlsafe(_BYTES_OF_CHANCE)
        self.accept(token, user, lifetime)
        return token

    def accept(self, token: str, user: User, lifetime: timedelta | None = None) -> None:
        """Let a token in that was made elsewhere."""
        digest = _digest(token)
        entry = _Entry(
            name=user.name,
            groups=user.groups,
            sha256=digest.hex(),
            expires=None if lifetime is None else self._now() + lifetime,
        )
        self._known[digest] = entry
        self._users[digest] = user
        self._save()

    def revoke(self, name: str) -> None:
        """Forget every token of a user."""
        self._known = {d: entry for d, entry in self._known.items() if entry.name != name}
        self._users = {digest: self._users[digest] for digest in self._known}
        self._save()

    def knows(self, authorization: str) -> bool:
        return self.user_of(authorization) is not None

    def user_of(self, authorization: str) -> User | None:
        """Whom an ``Authorization`` header speaks for.

        The hash is looked up, never the token: how long that takes tells nothing about a token.
        """
        scheme, _, token = authorization.partition(" ")
        if scheme != "Bearer" and scheme.lower() != "bearer":
            return None
        digest = _digest(token)
        user = self._users.get(digest)
        if user is None or self._expired(digest):
            return None
        return user

    def _expired(self, digest: bytes) -> bool:
        expires = self._known[digest].expires
        return expires is not None and expires <= self._now()

    def _save(self) -> None:
        if self._path is not None:
            document = msgspec.json.encode(_File(tokens=tuple(self._known.values())))
            write_private(self._path, msgspec.json.format(document) + b"\n")


def write_private(path: Path, content: bytes) -> None:
    """Replace a file by one that only its owner may read, at no moment half written."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def _read(path: Path) -> tuple[_Entry, ...]:
    try:
        content, mode = path.read_bytes(), path.stat().st_mode
    except FileNotFoundError:
        return ()
    except OSError as problem:
        raise TokensRefused(f"{path}: {problem.strerror}") from problem
    if mode & 0o077:
        raise TokensRefused(f"{path} can be read by other users: run chmod 600 {path}")
    try:
        entries = msgspec.json.decode(content, type=_File).tokens
        _ = [bytes.fromhex(entry.sha256) for entry in entries]
    except ValueError as problem:
        message = f"{path} is no file of tokens ({problem}): mend it or delete it"
        raise TokensRefused(message) from problem
    return entries


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _user(entry: _Entry) -> User:
    return User(entry.name, entry.groups)
