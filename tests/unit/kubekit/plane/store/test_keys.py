"""A key file: private, never half written, with clear errors."""

import json
import stat
import subprocess
import sys

import pytest

from kubekit.plane.store.errors import KeysRefused
from kubekit.plane.store.keys import KeyFile

DATA_KEY = b"d" * 32
ROTATE = (
    "import sys; from pathlib import Path; from kubekit.plane.store.keys import KeyFile\n"
    "for _ in range(20): KeyFile(Path(sys.argv[1])).rotate()"
)


@pytest.fixture
def keys(tmp_path):
    file = KeyFile(tmp_path / "secrets.key")
    file.create_first()
    return file


def test_k1_a_file_is_made_once_and_for_its_owner(keys):
    """The first key is created, whatever the umask; a second call changes nothing."""
    content = keys.path.read_bytes()
    keys.create_first()

    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    assert keys.path.read_bytes() == content
    assert [file.name for file in keys.path.parent.iterdir()] == ["secrets.key"]


def test_k1_what_is_wrapped_opens_with_its_name(keys):
    """A data key comes back, and no two wrappings are alike."""
    name = keys.current()
    first, second = keys.wrap(name, DATA_KEY), keys.wrap(name, DATA_KEY)

    assert first != second
    assert DATA_KEY not in first
    assert [keys.unwrap(name, wrapped) for wrapped in (first, second)] == [DATA_KEY, DATA_KEY]


def test_k1_rotation_puts_a_key_in_front(keys):
    """The new key is the one to seal with, the old one still opens, the file stays private."""
    old = keys.current()
    wrapped = keys.wrap(old, DATA_KEY)
    new = keys.rotate()

    assert keys.names() == [new, old]
    assert keys.current() == new != old
    assert keys.unwrap(old, wrapped) == DATA_KEY
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600


def test_k1_rotations_at_the_same_time_lose_no_key(keys):
    """Data may be sealed with any key that was ever the first."""
    command = [sys.executable, "-c", ROTATE, str(keys.path)]
    for process in [subprocess.Popen(command) for _ in range(3)]:
        assert process.wait() == 0

    assert len(keys.names()) == 61


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666, 0o611], ids=oct)
def test_k1_a_file_that_others_can_use_is_refused(keys, mode):
    """The message says how to fix it."""
    keys.path.chmod(mode)
    with pytest.raises(KeysRefused, match=f"chmod 600 {keys.path}"):
        keys.current()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b'{"keys": []}',
        b'{"keys": [{"name": "x", "key": "c2hvcnQ="}]}',
        b"\xff\xfe",
        b'{"keys": [{"name": "x", "key": "' + b"QUFB" * 8 + b'"}]}',
    ],
    ids=["empty", "no list", "no key", "a short key", "no text", "another name"],
)
def test_k1_a_damaged_file_is_refused_without_its_content(keys, content):
    """The file may contain half a key: the message names the file only."""
    keys.path.write_bytes(content)
    with pytest.raises(KeysRefused) as refused:
        keys.current()

    assert (
        str(refused.value) == f"{keys.path} is not a key file, or is damaged: restore a good copy"
    )
    assert keys.path.read_bytes() == content


def test_k1_a_key_that_is_not_there_is_named(keys):
    """The name helps to find the right one of several files."""
    with pytest.raises(KeysRefused, match="has no key 0123456789abcdef"):
        keys.unwrap("0123456789abcdef", b"")


def test_k1_a_missing_file_is_not_created_again(keys):
    """Another key would not open anything: it would only hide that one is lost."""
    name = keys.current()
    keys.path.unlink()
    for ask in (keys.current, keys.rotate, lambda: keys.unwrap(name, b"")):
        with pytest.raises(KeysRefused, match=r"secrets\.key is missing"):
            ask()

    assert not keys.path.exists()


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 60], ids=["none", "short", "other"])
def test_k1_damage_to_a_wrapped_key_is_reported(keys, damage):
    """The database has to be restored, not the key file."""
    with pytest.raises(KeysRefused, match="the database is damaged"):
        keys.unwrap(keys.current(), damage)


def test_k1_a_folder_is_no_file(tmp_path):
    """A path to something else is refused with a message."""
    (tmp_path / "secrets.key").mkdir(mode=0o700)
    keys = KeyFile(tmp_path / "secrets.key")
    keys.create_first()
    with pytest.raises(KeysRefused, match=r"secrets\.key cannot be read: Is a directory"):
        keys.current()


def test_k1_a_folder_that_is_not_there(tmp_path):
    """Neither creating nor replacing a file ends in a traceback."""
    keys = KeyFile(tmp_path / "nowhere" / "secrets.key")
    with pytest.raises(KeysRefused, match="cannot be created: No such file"):
        keys.create_first()
    with pytest.raises(KeysRefused, match="cannot be replaced: No such file"):
        keys.rotate()


def test_k1_the_file_can_be_read_by_people(keys):
    """Names and keys are plain JSON, so that a key can be removed by hand."""
    keys.rotate()
    document = json.loads(keys.path.read_text())

    assert [entry["name"] for entry in document["keys"]] == keys.names()
