"""`compute plane` from the outside: what it says, what it leaves on the disk, how it ends."""

import json
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError

import pytest
import yaml

from tests.support.kubekit.kites import DEFINITION
from tests.support.kubekit.plane_process import running, stream

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
ROOT = Path(__file__).parents[2]


def fails(*options: str) -> str:
    """The one sentence with which the command ends at once."""
    done = subprocess.run(
        [sys.executable, "-m", "compute", "plane", *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_it_says_how_to_use_it(tmp_path):
    """The lines name the address, the kubeconfig and the way out."""
    with running(tmp_path / "data") as plane:
        said = plane.said

        assert re.search(r"Serving \d+ kinds and \d+ objects at https://127\.0\.0\.1:\d+,", said)
        assert f"export KUBECONFIG={plane.kubeconfig}\n" in said
        assert plane.url in said


def test_the_files_are_for_their_owner_alone(tmp_path):
    """Token, kubeconfig, hashes and keys cannot be read by others."""
    with running(tmp_path / "data") as plane:
        modes = {
            file.name: file.stat().st_mode & 0o777
            for file in plane.data.rglob("*")
            if file.is_file() and file.suffix != ".crt"
        }

    assert {"token", "kubeconfig", "tokens.json", "plane.db", "ca.key", "server.key"} <= set(modes)
    assert set(modes.values()) == {0o600}
    assert plane.data.stat().st_mode & 0o777 == 0o700


def test_the_token_lets_in_and_nothing_else_does(tmp_path):
    """With the token of the folder it answers; with another one it does not."""
    with running(tmp_path / "data") as plane:
        assert json.loads(plane.get("/version"))["major"] == "1"
        with pytest.raises(HTTPError, match="401"):
            plane.get("/version", token="guessed")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_cleanly(tmp_path, number):
    """Ctrl-C and SIGTERM end it with a word and code 0, and free the folder."""
    with running(tmp_path / "data") as plane:
        code, out, err = plane.stop(number)

        assert (code, err) == (0, "")
        assert out == "Stopping.\nStopped. All acknowledged writes are kept.\n"
    with running(tmp_path / "data"):
        pass


def test_a_watch_does_not_hold_it_back(tmp_path):
    """A client that only listens is no reason to go on."""
    with running(tmp_path / "data") as plane:
        command = ["curl", "-sN", "--cacert", str(plane.data / "pki/ca.crt")]
        token = (plane.data / "token").read_text().strip()
        url = f"{plane.url}/api/v1/namespaces?watch=true"
        command += ["-H", f"Authorization: Bearer {token}", url]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as watching:
            assert stream(watching.stdout).readline()
            assert plane.stop()[0] == 0


def test_a_restart_keeps_everything(tmp_path):
    """The objects, the token and the authority are the same after a restart."""
    kept = ("token", "pki/ca.crt")
    with running(tmp_path / "data") as plane:
        before = [plane.get("/api/v1/namespaces/default"), *(_text(plane, f) for f in kept)]
        plane.stop()
    with running(tmp_path / "data") as plane:
        after = [plane.get("/api/v1/namespaces/default"), *(_text(plane, f) for f in kept)]

    assert before == after


def test_a_new_token_replaces_one_that_was_deleted(tmp_path):
    """After the token file is deleted there is a new token at the next start, and the old one is invalid."""
    with running(tmp_path / "data") as plane:
        old = _text(plane, "token").strip()
        plane.stop()
    (tmp_path / "data" / "token").unlink()
    with running(tmp_path / "data") as plane:
        assert plane.get("/readyz") == b"ok"
        with pytest.raises(HTTPError, match="401"):
            plane.get("/readyz", token=old)


def test_a_second_one_names_the_first(tmp_path):
    """A folder in use is refused at once, with the process that uses it, and left as it is."""
    with running(tmp_path / "data") as plane:
        kubeconfig = plane.kubeconfig.read_text()
        sentence = fails("--data", str(plane.data), "--port", "0")

        assert f"process {plane.process.pid} " in sentence
        assert str(plane.data) in sentence
        assert plane.kubeconfig.read_text() == kubeconfig


def test_a_port_in_use(tmp_path):
    """A port in use is named, with a way to solve it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        sentence = fails("--data", str(tmp_path / "data"), "--port", port)

    assert sentence.startswith(f"Error: port {port} of 127.0.0.1 is in use")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (DEFINITION.replace("group: example.test", "group: ''"), "spec.group"),
        (DEFINITION.replace("plural: kites", "plural: Kites"), "spec.names.plural"),
        (DEFINITION.replace("tails: {type: integer}", "tails: {type: number-ish}"), "type"),
        ("kind: CustomResourceDefinition\n", "spec"),
        ("{", "line 2"),
    ],
    ids=["group", "plural", "schema", "empty", "no yaml"],
)
def test_a_bad_definition(tmp_path, content, words):
    """A definition that cannot be served is refused with its file and its field."""
    file = tmp_path / "bad.yaml"
    file.write_text(content)
    sentence = fails("--data", str(tmp_path / "data"), "--crds", str(tmp_path), "--port", "0")

    assert str(file) in sentence
    assert words in sentence
    assert not (tmp_path / "data").exists()


def test_another_definition_of_a_name_that_is_served(tmp_path):
    """It would show our objects in a shape that is not theirs. Our own again is fine."""
    folder = tmp_path / "crds"
    folder.mkdir()
    ours = (ROOT / "config/base/crd/compute.datumapis.com_workloads.yaml").read_text()
    (folder / "workloads.yaml").write_text(ours)
    with running(tmp_path / "data", "--crds", str(folder)):
        pass
    (folder / "workloads.yaml").write_text(ours.replace("scope: Namespaced", "scope: Cluster"))
    message = fails("--data", str(tmp_path / "other"), "--crds", str(folder))

    assert "workloads.compute.datumapis.com is served already" in message


def test_a_folder_without_a_name(tmp_path):
    """An unset variable does not put keys and a database into the folder one happens to be in."""
    done = subprocess.run(
        [sys.executable, "-m", "compute", "plane", "--data", ""],
        capture_output=True, text=True, check=False, timeout=30, cwd=tmp_path,
    )  # fmt: skip

    assert done.returncode == 2
    assert "the name is empty" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_standard_streams_that_are_closed(tmp_path):
    """It serves and stops as ever: the loop cannot close what stands in their place."""
    plane = [sys.executable, "-m", "compute", "plane", "--data", f"{tmp_path}/data", "--port", "0"]
    closed = ["/bin/sh", "-c", f"exec {shlex.join(plane)} <&- >&-"]
    with subprocess.Popen(closed, stderr=subprocess.PIPE) as process:
        kubeconfig = tmp_path / "data" / "kubeconfig"
        while process.poll() is None and not kubeconfig.exists():
            select.select([], [], [], 0.05)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)

    assert (process.returncode, said) == (0, b"")


def test_a_folder_without_definitions(tmp_path):
    """An empty folder is most likely a mistake."""
    sentence = fails("--data", str(tmp_path / "data"), "--crds", str(tmp_path))

    assert sentence.startswith(f"Error: {tmp_path}: there is no CustomResourceDefinition in any")


def test_definitions_are_served(tmp_path):
    """The kinds of a folder are served beside those that are always there."""
    (tmp_path / "kites.yaml").write_text(DEFINITION)
    (tmp_path / "kustomization.yaml").write_text("kind: Kustomization\nresources: [kites.yaml]\n")
    with running(tmp_path / "data", "--crds", str(tmp_path)) as plane:
        found = json.loads(plane.get("/apis/example.test/v1"))

    assert [r["name"] for r in found["resources"]] == ["kites", "kites/scale", "kites/status"]


def test_a_folder_that_may_not_be_written():
    """A folder in which not even root may create files is named."""
    message = fails("--data", "/sys/plane")

    assert re.search("/sys/plane.*(Permission denied|Operation not permitted)", message)


def test_every_address(tmp_path):
    """Bound to every address it warns, and the kubeconfig still leads to it."""
    with running(tmp_path / "data", "--bind", "0.0.0.0") as plane:
        assert "the token allows everything" in plane.said
        assert plane.url.startswith("https://127.0.0.1:")
        assert plane.get("/readyz") == b"ok"


def test_the_output_need_not_be_read(tmp_path):
    """It keeps running when its output is closed."""
    with running(tmp_path / "data") as plane:
        stream(plane.process.stdout).close()
        plane.process.send_signal(signal.SIGTERM)

        assert plane.process.wait(30) == 0


def test_the_kubeconfig_carries_all_that_is_needed(tmp_path):
    """It can be moved: neither the CA nor the token is a path."""
    with running(tmp_path / "data") as plane:
        config = yaml.safe_load(plane.kubeconfig.read_text())

    assert set(config["clusters"][0]["cluster"]) == {"server", "certificate-authority-data"}
    assert config["users"][0]["user"] == {"token": _text(plane, "token").strip()}


def _text(plane, name: str) -> str:
    file: Path = plane.data / name
    return file.read_text()
