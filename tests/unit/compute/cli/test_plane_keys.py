"""`compute plane keys`: what it prints, and what it does not change."""

import asyncio
import os

import pytest

from compute.cli.root import run
from kubekit.plane.store.keys import KeyFile
from kubekit.plane.store.store import Store
from tests.support.kubekit.store_builders import environment, in_loop, opened


@pytest.fixture
def data(tmp_path):
    asyncio.run(_made(tmp_path))
    return tmp_path


async def _made(folder):
    async with opened(folder):
        pass


def test_k1_rotate_adds_a_key(data, capsys):
    """The new key is the first; the old ones stay; the next start seals with it."""
    before = KeyFile(data / "secrets.key").names()

    assert run(["plane", "keys", "rotate", "--data", str(data)]) == 0
    after = KeyFile(data / "secrets.key").names()
    assert after[1:] == before
    assert capsys.readouterr().out == (
        f"Key {after[0]} is now the first one in {data}/secrets.key.\n"
        "The plane seals everything with it at its next start.\n"
    )


@in_loop
async def test_k1_rotate_prints_how_a_running_plane_reloads_its_keys(tmp_path, capsys):
    """The process that serves the folder is named, with what to send it."""
    async with opened(tmp_path):
        assert run(["plane", "keys", "rotate", "--data", str(tmp_path)]) == 0
    assert f"kill -USR1 {os.getpid()} makes the plane" in capsys.readouterr().out


def test_k1_list_shows_names_and_no_key(data, capsys):
    """A name reveals nothing about its key."""
    keys = KeyFile(data / "secrets.key")
    keys.rotate()

    assert run(["plane", "keys", "list", "--data", str(data)]) == 0
    assert capsys.readouterr().out.split() == keys.names()


@pytest.mark.parametrize("verb", ["rotate", "list"])
def test_k1_failures_are_sentences(data, capsys, tmp_path_factory, verb):
    """A folder without a plane, keys that are missing, keys that others can read."""
    empty = tmp_path_factory.mktemp("empty")
    codes = [run(["plane", "keys", verb, "--data", str(empty)])]
    (data / "secrets.key").chmod(0o644)
    codes.append(run(["plane", "keys", verb, "--data", str(data)]))
    (data / "secrets.key").unlink()
    codes.append(run(["plane", "keys", verb, "--data", str(data)]))
    lines = capsys.readouterr().err.splitlines()
    errors = [line for line in lines if line.startswith("Error: ")]

    assert codes == [7, 1, 1]
    expected = ["there is no plane in it", "run chmod 600", "is missing: put it back"]
    assert [text in line for text, line in zip(expected, errors, strict=True)] == [True] * 3
    assert not (data / "secrets.key").exists()


def test_k1_a_name_that_is_empty(capsys):
    """An unset variable does not mean the folder one is in."""
    assert run(["plane", "keys", "rotate", "--data", ""]) == 2
    assert "the name is empty" in capsys.readouterr().err


@in_loop
async def test_k1_a_rotation_by_root_leaves_the_file_to_its_owner(tmp_path):
    """Else the plane could not read its own keys any more."""
    async with opened(tmp_path):
        pass
    file = tmp_path / "secrets.key"
    if os.geteuid() == 0:
        os.chown(file, 65534, 65534)
    owner = file.stat().st_uid
    KeyFile(file).rotate()

    assert file.stat().st_uid == owner
    store = await Store.open(tmp_path / "plane.db", environment())
    await store.close()
