"""`make peer`: a real server with our kinds, until Ctrl-C or until the process that started it is gone.

It is a process of its own so that nothing outlives a run of tests: it holds the read end of a pipe
whose other end only that run has. However the run ends, killed or finished, the pipe closes, and
this process ends the programs it started and removes their data.
"""

import argparse
import select
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from tests.peers.children import Ended
from tests.peers.server import NEEDED, Server
from tools.peers import catalog

READY = "ready"
KEEP = "keep"
_TRIES = 3  # another program may take a port between the search and the start
_POLL = 1.0  # seconds between two checks of the programs


def main() -> int:
    """Run a server; its variables are printed as lines that a shell can read."""
    parser = argparse.ArgumentParser(prog="python -m tests.peers", description="a real server")
    parser.add_argument("--piped", action="store_true", help="end when stdin is closed")
    piped = parser.parse_args().piped
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _interrupted)
    binaries = catalog.folder() / "bin"
    if lacking := catalog.missing(catalog.chosen(NEEDED), binaries.parent):
        return _fail(absence(lacking[0].name))
    folder = Path(tempfile.mkdtemp(prefix="peer-"))
    keep = False
    try:
        keep = _serve(binaries, folder, piped=piped)
    except Ended as reason:
        keep = True
        return _fail(str(reason))
    except KeyboardInterrupt:
        return 0
    finally:
        _clean(folder, keep=keep)
    return 0


def absence(name: str) -> str:
    """What to say where a binary is missing."""
    return f"{name} is not there: make peers"


def _serve(binaries: Path, folder: Path, *, piped: bool) -> bool:
    """Run it until it is asked to end. Returns whether the logs are wanted."""
    server, known = _started(binaries, folder)
    try:
        for name, value in known.items():
            _say(f"export {name}={value}")
        _say(f"{READY} {server.logs}")
        if not piped:
            _say("Ctrl-C stops it.")
        return _until_asked(server, piped=piped)
    finally:
        server.stop()


def _started(binaries: Path, folder: Path) -> tuple[Server, dict[str, str]]:
    for number in range(_TRIES):
        subfolder = folder / str(number)
        subfolder.mkdir()
        server = Server(binaries, subfolder)
        try:
            return server, server.start()
        except Ended as reason:
            server.stop()
            if "address already in use" not in str(reason) or number == _TRIES - 1:
                raise
        except BaseException:
            server.stop()
            raise
    raise AssertionError("the last try answers or raises")


def _until_asked(server: Server, *, piped: bool) -> bool:
    while True:
        readable, _, _ = select.select([sys.stdin] if piped else [], [], [], _POLL)
        if readable:
            return sys.stdin.readline().strip() == KEEP
        server.check()


def _clean(folder: Path, *, keep: bool) -> None:
    """Remove everything, or all but the logs."""
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)
        return
    for path in folder.glob("*/*"):
        if path.is_dir() and path.name != "log":
            shutil.rmtree(path, ignore_errors=True)
        elif path.is_file():
            path.unlink()
    _say(f"the logs are kept in {folder}")


def _fail(reason: str) -> int:
    _say(reason)
    return 1


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
