"""`make peers` as its user sees it, with a fake `go` whose binaries only print a version."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.peers import catalog

ROOT = Path(__file__).parents[2]
# It answers as go does to the four questions that are asked of it. ``hold`` makes a build wait.
GO = r"""#!/bin/sh
echo "$@" >> "$FAKE/asked"
case "$1" in
env) echo "{\"GOVERSION\": \"$FAKE_VERSION\", \"GOTOOLCHAIN\": \"${FAKE_TOOLCHAIN:-local}\",
  \"GOMODCACHE\": \"$FAKE\", \"GOCACHE\": \"$FAKE\"}" ;;
mod) echo "{\"Dir\": \"$FAKE\"}" ;;
list) shift 2; echo "$@" ;;
build)
  while [ "$1" != -o ]; do shift; done
  printf '#!/bin/sh\necho 3.6.4 1.34.4 1.16.0 0.7.0\n' > "$2"
  chmod +x "$2"
  if [ -e "$FAKE/hold" ]; then echo started > "$FAKE/started"; read word < "$FAKE/hold"; fi ;;
esac
"""

CONFIGURATION = "artifacts/deploy/webhook-configuration.yaml"

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture
def fake(tmp_path):
    """A folder with that `go` and with what it downloads."""
    (tmp_path / "go.mod").write_text("module x\n")
    (tmp_path / "go.sum").touch()
    for name in ("charts/karmada/_crds/bases/work/works.yaml", CONFIGURATION):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("kind: x\n")
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "go").write_text(GO)
    (tmp_path / "path" / "go").chmod(0o755)
    return tmp_path


def surroundings(fake, **changes):
    known = {
        "PATH": f"{fake / 'path'}:{os.environ['PATH']}",
        "DATUM_PEERS": str(fake / "peers"),
        "FAKE": str(fake),
        "FAKE_VERSION": "go1.26.8",
        "PYTHONUNBUFFERED": "1",
    }
    return known | changes


def start_build(fake, *names, **changes):
    return subprocess.Popen(
        [sys.executable, "-m", "tools.peers", *names],
        cwd=ROOT,
        env=surroundings(fake, **changes),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=_interruptible,  # noqa: PLW1509 - nothing but one system call
    )


def _interruptible():
    """Tests that run in the background ignore Ctrl-C, and so does every child."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def peers(fake, *names, **changes):
    """The exit code, and the lines it output."""
    process = start_build(fake, *names, **changes)
    output, _ = process.communicate(timeout=60)
    return process.returncode, output.splitlines()


def folder(fake):
    return catalog.folder({"DATUM_PEERS": str(fake / "peers")})


def built(fake):
    return sorted(path.name for path in (folder(fake) / "bin").glob("*"))


def test_everything_is_built(fake):
    """Each binary by its package and its own flags; nothing but binaries is where they are."""
    code, output = peers(fake)

    assert (code, built(fake)) == (0, sorted(catalog.BINARIES))
    assert output[0].startswith("peers: 10 to build into ")
    assert re.fullmatch(r"peers: etcd v3\.6\.4: 1 packages there after \d+ s", output[1])
    assert re.fullmatch(r"peers: etcd: built in \d+ s, 0 MB", output[2])
    assert output[-1].startswith("peers: 10 built in ")
    asked = (fake / "asked").read_text()
    assert "-X k8s.io/component-base/version.gitVersion=v1.34.4" in asked
    assert "k8s.io/kubernetes/cmd/kube-controller-manager" in asked
    assert "github.com/karmada-io/karmada/cmd/aggregated-apiserver" in asked


def test_the_second_call_does_nothing(fake):
    """It says so in one line, and asks nothing of go, which may be gone by now."""
    peers(fake, "etcd")
    code, output = peers(fake, "etcd", PATH="/nowhere")

    assert (code, output) == (0, [f"peers: nothing to do, {folder(fake)}/bin has etcd"])


def test_what_is_there_is_kept(fake):
    """Of several only the missing ones are built."""
    peers(fake, "etcd")
    (fake / "asked").unlink()
    peers(fake, "etcd", "kubectl")

    assert built(fake) == ["etcd", "kubectl"]
    assert "go.etcd.io" not in (fake / "asked").read_text()


def test_files_beside_a_program(fake):
    """Karmada's definitions are kept with its programs; a folder without them is completed."""
    peers(fake, "karmada-webhook")
    kept = folder(fake) / "files" / "karmada"
    assert {file.name for file in kept.iterdir()} == {"works.yaml", "webhook-configuration.yaml"}

    shutil.rmtree(kept)
    (fake / "asked").unlink()
    assert peers(fake, "karmada-webhook")[0] == 0
    assert kept.is_dir()
    assert "build" not in (fake / "asked").read_text().split()


def test_a_module_without_its_files(fake):
    """It is a failure that names the pattern."""
    (fake / CONFIGURATION).unlink()
    code, output = peers(fake, "karmada-webhook")

    assert (code, built(fake)) == (1, [])
    assert output[-1] == f"peers: stopped: karmada v1.16.0 has no {CONFIGURATION}"


@pytest.mark.parametrize(("required", "code"), [("", 0), ("1", 1)], ids=["wanted", "required"])
def test_without_go(fake, required, code):
    """One line says so. It is a failure only where peers are required."""
    ended = peers(fake, PATH="/nowhere", REQUIRE_PEERS=required)

    line = "peers: there is no go on the PATH; install Go 1.24.10 or newer to have real peers"
    assert ended == (code, [line])


def test_with_an_old_go(fake):
    """One line says which is needed, unless that go may fetch a newer one of itself."""
    old = {"FAKE_VERSION": "go1.22.1"}

    line = "peers: Go 1.22.1 is too old; install 1.24.0 or newer to have real peers"
    assert peers(fake, "kubectl", REQUIRE_PEERS="1", **old) == (1, [line])
    code, output = peers(fake, "kubectl", FAKE_TOOLCHAIN="auto", **old)
    assert output[0] == "peers: Go 1.22.1 will fetch a newer one of itself, as 1.24.0 is needed"
    assert (code, built(fake)) == (0, ["kubectl"])


def test_a_binary_that_is_not_what_it_should_be(fake):
    """A binary with another version is not kept."""
    go = fake / "path" / "go"
    go.write_text(GO.replace("3.6.4", "3.5.0"))
    code, output = peers(fake, "etcd")

    assert (code, built(fake)) == (1, [])
    assert output[-1] == "peers: stopped: etcd says that it is 3.5.0 1.34.4 1.16.0 0.7.0"


def test_an_unknown_name(fake):
    """It is a failure that names what there is."""
    code, output = peers(fake, "kubelet")

    assert code == 1
    assert output[0].startswith("peers: stopped: there is no kubelet; there are etcd, ")


def held(fake, *names):
    """A build that has started, and continues when something is written to ``hold``."""
    for gate in ("started", "hold"):
        os.mkfifo(fake / gate)
    process = start_build(fake, *names)
    (fake / "started").read_text()
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_continues_later(fake, number):
    """Half a binary never counts, and the next call continues from there."""
    process = held(fake, "etcd")
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)

    assert process.returncode == 130
    assert output.splitlines()[-1] == "peers: interrupted; the same command continues from here"
    assert built(fake) == []
    (fake / "hold").unlink()
    assert (peers(fake, "etcd")[0], built(fake)) == (0, ["etcd"])


def test_two_at_once(fake):
    """The second waits, says for which process, and then finds it done."""
    first = held(fake, "etcd")
    second = start_build(fake, "etcd")
    waiting = second.stdout.readline()
    (fake / "hold").write_text("go on\n")
    output, _ = second.communicate(timeout=60)
    first.communicate(timeout=60)

    assert waiting == f"peers: waiting for process {first.pid}, which is at etcd\n"
    assert output == f"peers: nothing to do, {folder(fake)}/bin has etcd\n"
    assert (first.returncode, second.returncode) == (0, 0)


def test_where(fake):
    """The folder of the binaries can be asked for, so that it can be put on a PATH."""
    assert peers(fake, "--where") == (0, [str(folder(fake) / "bin")])


def test_make_takes_names(fake):
    """The menu hands them on, and needs nothing but a Python."""
    done = subprocess.run(
        [str(shutil.which("make")), "peers", "NAMES=etcd kubectl"],
        cwd=ROOT,
        env=surroundings(fake),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, built(fake)) == (0, ["etcd", "kubectl"])
