"""`compute plane` from the point of view of an attacker who looks for secrets."""

import base64
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.support.kubekit.plane_process import PlaneProcess, running, stream

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
PLANTED = "planted-Q0hBTkNF-hunter2"
TOKEN = "planted-token-9f8e7d6c5b4a"
LISTEN = "0A"
LOOPBACK = re.compile(r"0100007F|0{24}01000000|0{16}FFFF00000100007F")


# Each command is a process of its own, forked where everything is imported already.
FORK = """
import json, os, signal, sys
import compute.cli.operate.plane_keys, compute.cli.operate.plane, compute.cli.root
from compute.__main__ import main

for line in sys.stdin:
    arguments, environment, output = json.loads(line)
    child = os.fork()
    if not child:
        signal.alarm(30)  # one that goes on is ended
        said = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream, target in ((os.open(os.devnull, os.O_RDONLY), 0), (said, 1), (said, 2)):
            os.dup2(stream, target)
        os.environ.update(environment)
        sys.argv = ["compute", *arguments]
        sys.exit(main())
    print(os.waitpid(child, 0)[1], flush=True)
"""


class Commands:
    """Commands, one after the other."""

    def __init__(self, forking: "subprocess.Popen[str]", output: Path) -> None:
        self._forking = forking
        self._output = output

    def __call__(self, *arguments: str, **environment: str) -> str:
        """Everything that a command prints, on both streams. Its own errors are printed with details."""
        asked = (arguments, {"COMPUTE_DEBUG": "1"} | environment, str(self._output))
        print(json.dumps(asked), file=self._forking.stdin, flush=True)
        assert stream(self._forking.stdout).readline()
        return self._output.read_text(errors="replace")


@pytest.fixture(scope="module")
def compute(tmp_path_factory):
    command = [sys.executable, "-c", FORK]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as forking:
        yield Commands(forking, tmp_path_factory.mktemp("output") / "output")
        stream(forking.stdin).close()


class Known:
    """A plane whose token and CA were read while its folder was there."""

    def __init__(self, plane: PlaneProcess) -> None:
        self._url = plane.url
        self._token = (plane.data / "token").read_text().strip()
        self._context = ssl.create_default_context(cafile=plane.data / "pki" / "ca.crt")

    def send(self, method: str, path: str, body: object = None, **headers: str) -> int:
        """The code of an answer."""
        data = None if body is None else json.dumps(body).encode()
        plain = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = Request(self._url + path, data, plain | headers, method=method)
        try:
            with urlopen(request, context=self._context, timeout=10) as answer:
                return int(answer.status)
        except HTTPError as refusal:
            refusal.read()
            return refusal.code


def send(plane: PlaneProcess, method: str, path: str, body: object = None, **headers: str) -> int:
    return Known(plane).send(method, path, body, **headers)


def secret(name: str) -> dict[str, object]:
    return {"metadata": {"name": name}, "stringData": {"password": PLANTED}}


def holders(folder: Path, needle: str) -> list[str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return sorted(file.name for file in files if needle.encode() in file.read_bytes())


def in_base64(text: str) -> str:
    """How a Secret holds it."""
    return base64.b64encode(text.encode()).decode()


SECRETS = "/api/v1/namespaces/default/secrets"


@dataclass(frozen=True)
class Life:
    """A plane that came to its end: its folder, its token, all that it said and could be seen of it."""

    data: Path
    token: str
    said: str
    seen: str
    advice: str
    process: int


@pytest.fixture(scope="module", params=[signal.SIGKILL, signal.SIGTERM], ids=["killed", "stopped"])
def life(request, tmp_path_factory, compute):
    """Secrets are made, changed and deleted, the key is changed meanwhile, and many knock."""
    data = tmp_path_factory.mktemp("life") / "data"
    with running(data, "--log-level", "debug") as plane:
        for name in ("a", "b"):
            assert send(plane, "POST", SECRETS, secret(name)) == 201
        assert send(plane, "PUT", f"{SECRETS}/a", secret("a")) == 200
        advice = compute("plane", "keys", "rotate", "--data", str(data))
        plane.process.send_signal(signal.SIGUSR1)
        assert send(plane, "POST", SECRETS, {"metadata": PLANTED}) == 400
        assert send(plane, "DELETE", f"{SECRETS}/b") == 200
        for path in ("/api/v1/namespaces", "/api/v1/nothing", "/metrics"):
            send(plane, "GET", path)
            send(plane, "GET", path, Authorization=f"Bearer {TOKEN}")
            send(plane, "GET", f"{path}?token={TOKEN}", Authorization=f"Basic {TOKEN}")
        seen = _seen(plane.process.pid)
        _, out, err = plane.stop(request.param)
    token = (data / "token").read_text().strip()
    return Life(data, token, plane.said + out + err, seen, advice, plane.process.pid)


def _seen(process: int) -> str:
    """What other users, or root, see of a process."""
    proc = Path(f"/proc/{process}")
    seen = (proc / "cmdline").read_bytes()
    if os.geteuid() == 0:
        seen += (proc / "environ").read_bytes()
    return seen.decode(errors="replace")


def test_k1_a_secret_is_in_no_file_and_in_nothing_that_is_said(life):
    """Made, changed and deleted over the API, with a key changed meanwhile: it is found nowhere."""
    assert f"kill -USR1 {life.process}" in life.advice
    for needle in (PLANTED, in_base64(PLANTED)):
        assert holders(life.data, needle) == []
        assert needle not in life.said + life.advice


def test_k2_a_running_plane_shows_no_token(life):
    """Neither its arguments, its environment nor its logs hold one, whatever credentials clients send."""
    audit = life.data / "audit.log"
    text = life.said + life.seen + (audit.read_text() if audit.exists() else "")
    for planted in (life.token, TOKEN):
        assert planted not in text


def test_k1_without_the_key_it_does_not_start(life, tmp_path, compute):
    """One sentence names the file; put back, everything is there."""
    data = tmp_path / "data"
    shutil.copytree(life.data, data)
    before = (data / "plane.db").read_bytes()
    (data / "secrets.key").rename(tmp_path / "kept")
    said = compute("plane", "--data", str(data), "--port", "0").splitlines()

    assert said[0] == f"Opening {data}"
    assert said[1].startswith(f"Error: {data}/secrets.key is missing: put it back")
    assert len(said) == 2
    assert (data / "plane.db").read_bytes() == before
    (tmp_path / "kept").rename(data / "secrets.key")
    with running(data) as plane:
        found = json.loads(plane.get(f"{SECRETS}/a"))
        assert found["data"]["password"] == in_base64(PLANTED)


def _spoil(data: Path, name: str, content: str = TOKEN) -> None:
    (data / name).unlink(missing_ok=True)
    (data / name).write_text(content)
    (data / name).chmod(0o600)


def _in_the_way(data: Path, name: str) -> None:
    (data / name).unlink(missing_ok=True)
    (data / name).mkdir()


HARMS = {
    "nothing": lambda _: None,
    "tokens.json": lambda data: _spoil(data, "tokens.json"),
    "tokens.json, nearly": lambda data: _spoil(
        data, "tokens.json", json.dumps({"tokens": [{"name": 1, "sha256": TOKEN}]})
    ),
    "secrets.key": lambda data: _spoil(data, "secrets.key"),
    "secrets.key, nearly": lambda data: _spoil(
        data, "secrets.key", json.dumps({"keys": [{"name": "x", "key": TOKEN}]})
    ),
    "plane.db": lambda data: _spoil(data, "plane.db"),
    "ca.key": lambda data: _spoil(data / "pki", "ca.key"),
    "server.key": lambda data: _spoil(data / "pki", "server.key"),
    "token is a folder": lambda data: _in_the_way(data, "token"),
    "kubeconfig is a folder": lambda data: _in_the_way(data, "kubeconfig"),
    "modes": lambda data: (data / "tokens.json").chmod(0o644),
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_k2_no_failure_shows_a_token(plane, tmp_path, compute, harm):
    """Whatever is wrong with the folder, what is said of it holds none of what is in it."""
    data = tmp_path / "data"
    shutil.copytree(plane.data, data)
    _spoil(data, "kubeconfig")
    token = (data / "token").read_text().strip()
    harm(data)
    said = compute("plane", "--data", str(data), "--port", "0", "--bind", "192.0.2.1")

    assert said
    assert TOKEN not in said
    assert token not in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["plane", "--help"],
        ["plane", "keys", "--help"],
        ["plane", "keys", "rotate", "--help"],
        ["plan", "--help"],
        ["--version"],
        ["nothing"],
        ["plan", "-f", "{manifest}"],
        ["plan", "-f", "{manifest}", "-o", "json"],
        ["plan", "-f", "{manifest}", "-o", "yaml"],
        ["plan", "-f", "{folder}/none"],
        ["plane", "--data", "{manifest}/data"],
        ["plane", "--data", "{folder}", "--crds", "{folder}"],
        ["plane", "keys", "list", "--data", "{folder}"],
    ],
    ids=" ".join,
)
def test_k2_no_command_shows_what_the_environment_holds(tmp_path, compute, arguments):
    """A token in a variable, in a kubeconfig or in a manifest is in nothing that is printed."""
    manifest = tmp_path / "secret.yaml"
    manifest.write_text(f"kind: Secret\nmetadata: {{name: a}}\nstringData: {{t: {TOKEN}}}\n")
    (tmp_path / "config").write_text(f"users: [{{name: a, user: {{token: {TOKEN}}}}}]\n")
    given = [a.format(folder=tmp_path, manifest=manifest) for a in arguments]
    config = str(tmp_path / "config")
    said = compute(*given, COMPUTE_TOKEN=TOKEN, DATUM_TOKEN=TOKEN, KUBECONFIG=config)

    assert said
    assert TOKEN not in said


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    """A plane with its defaults, in a folder that others could look into."""
    data = tmp_path_factory.mktemp("plane") / "data"
    data.mkdir()
    data.chmod(0o755)
    with running(data) as plane:
        yield plane


def listeners(process: int) -> set[str]:
    """The addresses, in the kernel's own spelling, that a process listens on."""
    sockets = set()
    for handle in Path(f"/proc/{process}/fd").iterdir():
        target = str(handle.readlink())
        if target.startswith("socket:["):
            sockets.add(target.removeprefix("socket:[").removesuffix("]"))
    found = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for row in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
            fields = row.split()
            if fields[9] in sockets and (fields[3] == LISTEN or table.startswith("udp")):
                found.add(fields[1].partition(":")[0])
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look at its sockets")
def test_a1_by_default_only_this_machine_is_listened_to(plane):
    """The kernel knows of no listener but on the loopback, and nothing is said of other machines."""
    found = listeners(plane.process.pid)

    assert found
    assert [address for address in found if not LOOPBACK.fullmatch(address)] == []
    assert "Other machines" not in plane.said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look at its sockets")
def test_a1_every_address_is_said_and_served_with_tls(tmp_path):
    """The output warns that other machines can reach it; without credentials they get no access."""
    with running(tmp_path / "data", "--bind", "0.0.0.0") as plane:
        assert listeners(plane.process.pid) == {"00000000"}
        assert "Other machines can reach it" in plane.said
        assert plane.url.startswith("https://")
        assert send(plane, "GET", "/api", Authorization="") == 401


def test_p5_root_gets_a_warning_and_the_process_is_hardened(plane):
    """No core, no dump, private files; started as root it says that this is not needed."""
    proc = Path(f"/proc/{plane.process.pid}")
    assert re.search(r"Max core file size\s+0\s", (proc / "limits").read_text())
    assert re.search(r"^Umask:\s+0077$", (proc / "status").read_text(), re.MULTILINE)
    assert proc.stat().st_uid == 0 or os.geteuid() != 0
    assert ("It runs as root" in plane.said) is (os.geteuid() == 0)
    assert {file.stat().st_mode & 0o077 for file in plane.data.rglob("*")} == {0}


def test_p5_a_second_one_is_refused_and_an_open_folder_closed(plane, compute):
    """A folder that others could look into is mended at the start, and that is said."""
    assert f"{plane.data} was readable by other users" in plane.said
    assert plane.data.stat().st_mode & 0o777 == 0o700
    assert f"process {plane.process.pid} " in compute("plane", "--data", str(plane.data))


def test_p5_a_folder_with_other_things_is_refused(tmp_path, compute):
    """A folder of another user is neither closed nor written to."""
    (tmp_path / "theirs").touch()
    tmp_path.chmod(0o755)
    said = compute("plane", "--data", str(tmp_path), "--port", "0")

    assert said.startswith(f"Error: {tmp_path} is readable by other users")
    assert [file.name for file in tmp_path.iterdir()] == ["theirs"]


def test_p5_a_deleted_folder_stops_writes(tmp_path):
    """Within a second changes are refused with 503, health fails, and reading goes on."""
    with running(tmp_path / "data") as plane:
        known = Known(plane)
        maps = "/api/v1/namespaces/default/configmaps"
        assert known.send("POST", maps, {"metadata": {"name": "before"}}) == 201
        shutil.rmtree(plane.data)
        codes = [201]
        for number in range(600):
            codes.append(known.send("POST", maps, {"metadata": {"name": f"n{number}"}}))
            if codes[-1] != 201:
                break
            signal.sigtimedwait([], 0.05)
        assert codes[-1] == 503
        assert known.send("POST", maps, {"metadata": {"name": "late"}}) == 503
        assert known.send("GET", f"{maps}/before") == 200
        assert known.send("GET", "/readyz") == 500
