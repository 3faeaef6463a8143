"""`make peer`: a real server with our kinds, until Ctrl-C or until the run that started it is gone."""

import argparse
import select
import sys
import tempfile
from pathlib import Path

from tests.peers.children import Ended
from tests.peers.keeper import KEEP, READY
from tests.peers.screen import absence, clean, fail, interruptible, say
from tests.peers.server import NEEDED, Server
from tools.peers import catalog

_TRIES = 3  # another program may take a port between the search and the start
_POLL = 1.0  # seconds between two checks of the programs


def main() -> int:
    """Run a server; its variables are printed as lines that a shell can read."""
    parser = argparse.ArgumentParser(prog="python -m tests.peers", description="a real server")
    parser.add_argument("--piped", action="store_true", help="end when stdin is closed")
    piped = parser.parse_args().piped
    interruptible()
    binaries = catalog.folder() / "bin"
    if lacking := catalog.missing(catalog.chosen(NEEDED), binaries.parent):
        return fail(absence(lacking[0].name))
    folder = Path(tempfile.mkdtemp(prefix="peer-"))
    keep = False
    try:
        keep = _serve(binaries, folder, piped=piped)
    except Ended as reason:
        keep = True
        return fail(str(reason))
    except KeyboardInterrupt:
        return 0
    finally:
        clean(folder, keep=keep)
    return 0


def _serve(binaries: Path, folder: Path, *, piped: bool) -> bool:
    """Run it until it is asked to end. Returns whether the logs are wanted."""
    server, known = _started(binaries, folder)
    try:
        for name, value in known.items():
            say(f"export {name}={value}")
        say(f"{READY} {server.logs}")
        if not piped:
            say("Ctrl-C stops it.")
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


if __name__ == "__main__":
    sys.exit(main())
