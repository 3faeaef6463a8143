"""A plane from a folder, served in this very process."""

import asyncio
import gc
import os
import signal
import socket

import pytest

from compute.app.plane_server import serving, stop_signal
from compute.cli.operate import plane
from compute.cli.root import run
from kubekit.plane.http.server import CannotListen
from kubekit.plane.store.errors import Busy
from tests.support.compute import served_kinds

ANY_PORT = ("127.0.0.1", 0)


@pytest.fixture(autouse=True)
def process():
    """The garbage collector of the tests, and their mask for new files, stay as they are."""
    before, mask = gc.get_threshold(), os.umask(0o022)
    os.umask(mask)
    yield
    gc.unfreeze()
    gc.set_threshold(*before)
    os.umask(mask)


async def opened(folder, address=ANY_PORT):
    """What a plane on this folder leaves behind, after one life."""
    async with serving(folder, served_kinds.everything(), address) as found:
        return found.objects, found.server.url


def test_a_folder_is_prepared_once(tmp_path):
    """The first life makes token, authority and first objects; the second finds them."""
    first = asyncio.run(opened(tmp_path))
    token, authority = (tmp_path / "token").read_text(), (tmp_path / "pki/ca.crt").read_bytes()
    second = asyncio.run(opened(tmp_path))

    assert first[0] == second[0] > 0
    assert (tmp_path / "token").read_text() == token
    assert (tmp_path / "pki/ca.crt").read_bytes() == authority


def test_a_token_that_cannot_be_read_is_replaced(tmp_path):
    """It is no text at all, so no client can have used it."""
    (tmp_path / "token").write_bytes(b"\xff\xfe")
    asyncio.run(opened(tmp_path))

    assert (tmp_path / "token").read_text().strip() in (tmp_path / "kubeconfig").read_text()


def test_the_token_is_made_private_again(tmp_path):
    """Like the kubeconfig, it is private after each start."""
    asyncio.run(opened(tmp_path))
    token = (tmp_path / "token").read_text()
    (tmp_path / "token").chmod(0o644)
    asyncio.run(opened(tmp_path))

    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "token").read_text() == token


def test_a_name_that_no_certificate_can_hold_is_refused_by_the_listener(tmp_path):
    """The listener says that there is no such address."""
    with pytest.raises(CannotListen, match="cannot listen on h\u00f6chst"):
        asyncio.run(opened(tmp_path, ("h\u00f6chst.invalid", 0)))


def test_a_second_process_changes_nothing(tmp_path):
    """A second process on a folder is refused before a file is written."""

    async def twice():
        async with serving(tmp_path, served_kinds.everything(), ANY_PORT):
            before = (tmp_path / "kubeconfig").read_text()
            with pytest.raises(Busy, match=str(os.getpid())):
                await opened(tmp_path)
            assert (tmp_path / "kubeconfig").read_text() == before

    asyncio.run(twice())


def test_other_addresses_are_in_the_certificate(tmp_path):
    """A plane on every address is known by the name of its machine, too."""
    _, url = asyncio.run(opened(tmp_path, ("0.0.0.0", 0)))

    assert url.startswith("https://0.0.0.0:")
    assert "https://127.0.0.1:" in (tmp_path / "kubeconfig").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_are_received_once(number):
    """The first one is returned; two at once are one."""

    async def received():
        waiting = asyncio.ensure_future(stop_signal())
        await asyncio.sleep(0)
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
        return await waiting

    assert asyncio.run(received()) == number


@pytest.fixture
def stopped_at_once(monkeypatch):
    """A command that receives a signal as soon as it serves."""

    async def stop() -> signal.Signals:
        return signal.SIGTERM

    monkeypatch.setattr(plane, "stop_signal", stop)


@pytest.mark.usefixtures("stopped_at_once")
@pytest.mark.parametrize(("bind", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_the_command_prints_what_it_does(tmp_path, capsys, bind, warned):
    """It says where it serves, how to use it, and that it has stopped."""
    arguments = ["plane", "--data", str(tmp_path / "data"), "--port", "0", "--bind", bind]

    assert run(arguments) == 0
    out = capsys.readouterr().out
    assert f"export KUBECONFIG={tmp_path}/data/kubeconfig" in out
    assert ("the token allows everything" in out) is warned
    assert out.endswith("Stopped. All acknowledged writes are kept.\n")


def test_failures_are_sentences(tmp_path, capsys):
    """A port in use, no definitions, a folder that cannot be made, a file that cannot be read."""
    (tmp_path / "file").touch()
    (tmp_path / "other").mkdir(mode=0o700)
    (tmp_path / "other" / "token").mkdir()
    with socket.create_server(ANY_PORT) as taken:
        port = str(taken.getsockname()[1])
        data = str(tmp_path / "data")
        codes = [
            run(["plane", "--data", data, "--port", port]),
            run(["plane", "--data", data, "--crds", str(tmp_path)]),
            run(["plane", "--data", f"{tmp_path}/file/data"]),
            run(["plane", "--data", f"{tmp_path}/other", "--port", "0"]),
        ]

    assert codes == [1, 1, 1, 1]
    expected = [
        "is in use",
        "there is no CustomResourceDefinition",
        "Not a directory",
        "other/token",
    ]
    errors = capsys.readouterr().err.splitlines()
    assert [text in line for text, line in zip(expected, errors, strict=True)] == [True] * 4
