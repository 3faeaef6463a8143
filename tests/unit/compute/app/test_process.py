"""What a server does for its own safety."""

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from compute.app.process import Unsafe, become, keep_private

HARDENED = """
import os, resource
from compute.app.process import harden
harden()
open("made", "w").close()
os.mkdir("folder")
print(oct(os.stat("made").st_mode & 0o777), oct(os.stat("folder").st_mode & 0o777))
print(resource.getrlimit(resource.RLIMIT_CORE)[0])
import ctypes
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), flush=True)
os.abort()
"""
DROPPED = """
import os, sys
from pathlib import Path
from compute.app.process import become
become("nobody", Path(sys.argv[1]))  # words: the name of a user of every Linux
Path(sys.argv[1], "made").touch()
print(os.getuid(), os.geteuid(), sorted(set(os.getgroups()) & {0}))
try:
    os.setuid(0)
except PermissionError:
    print("permanently")
"""
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")


def test_p5_files_are_private_and_memory_is_not_dumped(tmp_path):
    """New files are for their owner alone; a crash leaves no image, and no process may take one."""
    done = subprocess.run(
        [sys.executable, "-c", HARDENED], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.stdout == "0o600 0o700\n0\n0\n"
    assert done.returncode == -6
    assert not list(tmp_path.glob("core*"))


def test_d5_a_server_may_have_more_connections_than_a_shell():
    """What a user may have at most is taken up to; else a thousand idle peers would shut all out."""
    lowered = "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (256, 4096)); "
    hardened = "from compute.app.process import harden; harden(); "
    show = "print(r.getrlimit(r.RLIMIT_NOFILE))"
    done = subprocess.run(
        [sys.executable, "-c", lowered + hardened + show],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "(4096, 4096)\n"


@pytest.fixture
def open_folder():
    """A folder that all users may read, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@AS_ROOT
def test_p5_privileges_are_dropped_permanently(open_folder):
    """Root creates the folder for the user, becomes that user, and cannot return."""
    data = open_folder / "data"
    done = subprocess.run(
        [sys.executable, "-c", DROPPED, str(data)], capture_output=True, text=True, check=False
    )

    assert done.stdout.splitlines()[0].endswith("[]")
    assert done.stdout.splitlines()[1:] == ["permanently"]
    assert (data / "made").stat().st_uid == data.stat().st_uid != 0
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


def test_p5_an_unknown_user_is_named(tmp_path):
    """Nothing is created for a user that does not exist."""
    with pytest.raises(Unsafe, match="--user no-such-name: there is no such user"):
        become("no-such-name", tmp_path / "data")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o701, 0o777], ids=oct)
@pytest.mark.parametrize("files", [[], ["plane.db", "token"]], ids=["empty", "ours"])
def test_p5_a_folder_of_a_plane_is_made_private(tmp_path, mode, files):
    """An empty folder or one with a plane is made private, and the change is reported."""
    data = tmp_path / "data"
    data.mkdir()
    for file in files:
        (data / file).touch()
    data.chmod(mode)

    assert keep_private(data) == f"{data} was readable by other users; it is private now."
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert keep_private(data) == ""


def test_p5_a_folder_with_other_files_is_refused(tmp_path):
    """A user who names a folder with other files in it, such as /tmp, is not locked out of it."""
    (tmp_path / "theirs").touch()
    tmp_path.chmod(0o755)
    with pytest.raises(Unsafe, match=f"name a folder of its own, such as {tmp_path}/plane"):
        keep_private(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


@AS_ROOT
@pytest.mark.parametrize("mode", [0o700, 0o755], ids=oct)
def test_p5_a_folder_of_another_user_is_refused(tmp_path, mode):
    """That user may have put links into it, by which root would write to any file, or known keys."""
    data = tmp_path / "data"
    data.mkdir(mode=mode)
    os.chown(data, 65534, 65534)
    with pytest.raises(Unsafe, match=f"{data} .*is not yours"):
        keep_private(data)


def test_p5_a_missing_folder_is_accepted(tmp_path):
    """The store makes it as it should be."""
    assert keep_private(tmp_path / "data") == ""
    assert not (tmp_path / "data").exists()
