"""Where the keys come from that data keys are sealed with: a file, or a service that keeps them.

A file holds one key or several. The first is the one to seal with; all of them open. To rotate is
to put a new one in front: the old ones stay, because older copies of a database need them.
"""

import base64
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final, Protocol

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from kubekit.plane.store.errors import KeysRefused
from kubekit.plane.store.lock import sync_names

_OWNER_ONLY: Final = 0o600
_OTHERS: Final = 0o077
_KEY: Final = 32  # bytes, for AES-256
_NONCE: Final = 12
_PURPOSE: Final = b"compute: data key"
_MOST: Final = 1 << 20  # bytes that a file of keys may have


class Keys(Protocol):
    """Holds keys that never leave it by name alone. Called in the thread of the store, and may wait.

    Each method raises `KeysRefused` when it cannot do what it is asked.
    """

    def begin(self) -> None:
        """Make a first key where there is none. Only for a database that nothing is sealed in."""
        ...

    def current(self) -> str:
        """The name of the key to seal with, as it is now."""
        ...

    def wrap(self, name: str, data_key: bytes) -> bytes:
        """A data key, sealed with the key of that name."""
        ...

    def unwrap(self, name: str, wrapped: bytes) -> bytes:
        """The data key that was sealed with the key of that name."""
        ...


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    key: str


class _File(msgspec.Struct, frozen=True, kw_only=True):
    keys: tuple[_Entry, ...]


class KeyFile:
    """Keys in a file that only its owner may read. It is read again whenever a key is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self) -> None:
        try:
            self.path.lstat()
        except FileNotFoundError:
            _create(self.path, _content([_fresh()]))
        except OSError as problem:
            raise KeysRefused(f"{self.path}: {problem.strerror}") from problem

    def current(self) -> str:
        return next(iter(self._read()))

    def names(self) -> list[str]:
        """The names of the keys, the one to seal with first."""
        return list(self._read())

    def wrap(self, name: str, data_key: bytes) -> bytes:
        """What is sealed with a key outlives it if the file is only in the kernel's memory yet."""
        _make_lasting(self.path)
        nonce = os.urandom(_NONCE)
        return nonce + AESGCM(self._key(name)).encrypt(nonce, data_key, _PURPOSE)

    def unwrap(self, name: str, wrapped: bytes) -> bytes:
        try:
            return AESGCM(self._key(name)).decrypt(wrapped[:_NONCE], wrapped[_NONCE:], _PURPOSE)
        except (InvalidTag, ValueError) as problem:
            raise KeysRefused(
                f"key {name} of {self.path} does not open what bears its name: the database is "
                "damaged; restore a copy"
            ) from problem

    def rotate(self) -> str:
        """Put a new key in front of the others; the answer is its name. It must outlast a crash."""
        with _alone(self.path):
            fresh, present = _fresh(), self._read()
            _replace(self.path, _content([fresh, *present.values()]))
        return _name(fresh)

    def _key(self, name: str) -> bytes:
        found = self._read(needed=name).get(name)
        if found is None:
            raise KeysRefused(
                f"{self.path} has no key {name}, which the secrets are sealed with: put back the "
                "file that belongs to this database. Nothing was changed"
            )
        return found

    def _read(self, needed: str = "") -> dict[str, bytes]:
        try:
            content = _private(self.path)
        except FileNotFoundError:
            wanted = f"with key {needed}, which the secrets are sealed with" if needed else "first"
            raise KeysRefused(
                f"{self.path} is missing: put it back {wanted}. Nothing was changed"
            ) from None
        except OSError as problem:
            raise KeysRefused(f"{self.path} cannot be read: {problem.strerror}") from problem
        return _parsed(self.path, content)


def _private(path: Path) -> bytes:
    """What is in a file that nobody else can read. The mode is that of the very file that is read."""
    with path.open("rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if mode & _OTHERS:
            raise KeysRefused(f"{path} can be read by other users: run chmod 600 {path}")
        if not stat.S_ISREG(mode):
            raise KeysRefused(f"{path} is not a file")
        return file.read(_MOST)


def _parsed(path: Path, content: bytes) -> dict[str, bytes]:
    """The keys by their names. What is wrong is told without a word of the content."""
    try:
        entries = msgspec.json.decode(content, type=_File).keys
        keys = {entry.name: base64.b64decode(entry.key, validate=True) for entry in entries}
    except ValueError:
        keys = {}
    if not keys or any(len(key) != _KEY or _name(key) != name for name, key in keys.items()):
        raise KeysRefused(f"{path} is no file of keys, or damaged: put back a good copy")
    return keys


def _content(keys: list[bytes]) -> bytes:
    entries = (_Entry(name=_name(key), key=base64.b64encode(key).decode()) for key in keys)
    document = msgspec.json.encode(_File(keys=tuple(entries)))
    return msgspec.json.format(document) + b"\n"


def _fresh() -> bytes:
    return os.urandom(_KEY)


def _name(key: bytes) -> str:
    """What a key is called. It tells nothing about the key, and a damaged key has another name."""
    return sha256(b"compute: name of a key\0" + key).hexdigest()[:16]


def _create(path: Path, content: bytes) -> None:
    """Make a file that is there whole or not at all, and never in the place of another."""
    try:
        fresh = _written(path, content)
        try:
            os.link(fresh, path)
        except FileExistsError:
            return  # somebody was quicker: that one counts
        finally:
            fresh.unlink()
        sync_names(path.parent)
    except OSError as problem:
        raise KeysRefused(f"{path} cannot be made: {problem.strerror}") from problem


def _make_lasting(path: Path) -> None:
    try:
        with path.open("rb") as file:
            os.fsync(file.fileno())
        sync_names(path.parent)
    except OSError as problem:
        raise KeysRefused(f"{path} cannot be synced: {problem.strerror}") from problem


def _replace(path: Path, content: bytes) -> None:
    """Put another file in the place of one. It stays its owner's, also where root replaces it."""
    try:
        owner, fresh = path.stat(), _written(path, content)
        os.chown(fresh, owner.st_uid, owner.st_gid)
        fresh.replace(path)
        sync_names(path.parent)
    except OSError as problem:
        raise KeysRefused(f"{path} cannot be replaced: {problem.strerror}") from problem


def _written(path: Path, content: bytes) -> Path:
    """A file beside the one that is meant, with its content on the disk."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return fresh


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One rotation at a time: of two that read the same file, one would lose the other's key."""
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        raise KeysRefused(f"{path} cannot be replaced: {problem.strerror}") from problem
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
