"""The keys that wrap the data keys: from a file, or from a key service.

A file holds one or more keys. The first one encrypts; all of them decrypt. A rotation puts a new
key in front. The old ones stay, because older copies of a database need them.
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
_LARGEST: Final = 1 << 20  # bytes of a key file


class Keys(Protocol):
    """Holds keys and uses them by name. Called in the thread of the store, and may block.

    Each method raises `KeysRefused` when it fails.
    """

    def create_first(self) -> None:
        """Create the first key if there is none. Only for a database without sealed rows."""
        ...

    def current(self) -> str:
        """The name of the key that currently seals."""
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
    """Keys in a file that only its owner may read. The file is read on every use."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def create_first(self) -> None:
        try:
            self.path.lstat()
        except FileNotFoundError:
            _create(self.path, _content([_new_key()]))
        except OSError as problem:
            raise KeysRefused(f"{self.path}: {problem.strerror}") from problem

    def current(self) -> str:
        return next(iter(self._read()))

    def names(self) -> list[str]:
        """The names of the keys, the one that seals first."""
        return list(self._read())

    def wrap(self, name: str, data_key: bytes) -> bytes:
        """The file is synced first: sealed data must not outlive a key that is not yet on disk."""
        _sync(self.path)
        nonce = os.urandom(_NONCE)
        return nonce + AESGCM(self._key(name)).encrypt(nonce, data_key, _PURPOSE)

    def unwrap(self, name: str, wrapped: bytes) -> bytes:
        try:
            return AESGCM(self._key(name)).decrypt(wrapped[:_NONCE], wrapped[_NONCE:], _PURPOSE)
        except (InvalidTag, ValueError) as problem:
            raise KeysRefused(
                f"key {name} of {self.path} does not open the data sealed with it: the database is "
                "damaged; restore a copy"
            ) from problem

    def rotate(self) -> str:
        """Put a new key in front of the others and return its name. The change survives a crash."""
        with _exclusive(self.path):
            key, present = _new_key(), self._read()
            _replace(self.path, _content([key, *present.values()]))
        return _name(key)

    def _key(self, name: str) -> bytes:
        key = self._read(needed=name).get(name)
        if key is None:
            raise KeysRefused(
                f"{self.path} has no key {name}, which the secrets are sealed with: put back the "
                "file that belongs to this database. Nothing was changed"
            )
        return key

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
    """The content of a private file. The mode is checked on the opened file, not on the path."""
    with path.open("rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if mode & _OTHERS:
            raise KeysRefused(f"{path} can be read by other users: run chmod 600 {path}")
        if not stat.S_ISREG(mode):
            raise KeysRefused(f"{path} is not a file")
        return file.read(_LARGEST)


def _parsed(path: Path, content: bytes) -> dict[str, bytes]:
    """The keys by their names. An error never quotes the content."""
    try:
        entries = msgspec.json.decode(content, type=_File).keys
        keys = {entry.name: base64.b64decode(entry.key, validate=True) for entry in entries}
    except ValueError:
        keys = {}
    if not keys or any(len(key) != _KEY or _name(key) != name for name, key in keys.items()):
        raise KeysRefused(f"{path} is not a key file, or is damaged: restore a good copy")
    return keys


def _content(keys: list[bytes]) -> bytes:
    entries = (_Entry(name=_name(key), key=base64.b64encode(key).decode()) for key in keys)
    document = msgspec.json.encode(_File(keys=tuple(entries)))
    return msgspec.json.format(document) + b"\n"


def _new_key() -> bytes:
    return os.urandom(_KEY)


def _name(key: bytes) -> str:
    """The name of a key: a hash, which does not reveal the key, and detects a damaged one."""
    return sha256(b"compute: name of a key\0" + key).hexdigest()[:16]


def _create(path: Path, content: bytes) -> None:
    """Create a complete file or none, and never replace an existing one."""
    try:
        temporary = _write_temporary(path, content)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return  # another process created it first: use that one
        finally:
            temporary.unlink()
        sync_names(path.parent)
    except OSError as problem:
        raise KeysRefused(f"{path} cannot be created: {problem.strerror}") from problem


def _sync(path: Path) -> None:
    try:
        with path.open("rb") as file:
            os.fsync(file.fileno())
        sync_names(path.parent)
    except OSError as problem:
        raise KeysRefused(f"{path} cannot be synced: {problem.strerror}") from problem


def _replace(path: Path, content: bytes) -> None:
    """Replace a file. It keeps its owner, also when root replaces it."""
    try:
        owner, temporary = path.stat(), _write_temporary(path, content)
        os.chown(temporary, owner.st_uid, owner.st_gid)
        temporary.replace(path)
        sync_names(path.parent)
    except OSError as problem:
        raise KeysRefused(f"{path} cannot be replaced: {problem.strerror}") from problem


def _write_temporary(path: Path, content: bytes) -> Path:
    """A temporary file beside the path, with its content on disk."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    temporary.unlink(missing_ok=True)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return temporary


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Allow one rotation at a time: otherwise one could drop the key that another has added."""
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        raise KeysRefused(f"{path} cannot be replaced: {problem.strerror}") from problem
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
