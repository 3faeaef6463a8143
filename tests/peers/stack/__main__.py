"""`make stack`: a project, a hub with Karmada and a cell for each city, until Ctrl-C.

A run of tests starts it with a pipe, and asks by lines: ``kill NAME``, ``stop NAME``, ``start NAME``,
``check NAME``, ``run PROGRAM`` and ``signal [NAME, NUMBER]``, with JSON after the verb. It answers each
with a line: done, or why not.
"""

import argparse
import asyncio
import json
import select
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.peers import keeper
from tests.peers.children import Ended
from tests.peers.processes import Processes
from tests.peers.screen import absence, clean, fail, interruptible, say
from tests.peers.stack.assembly import CITIES, Stack
from tools.peers import catalog

_POLL = 1.0  # seconds between two checks of the programs
_TRIES = 3  # another program may take a port between the search and the start


def main() -> int:
    """Run the stack; where it is, is printed as lines that a shell can read."""
    parser = argparse.ArgumentParser(prog="python -m tests.peers.stack", description="a real stack")
    parser.add_argument("--piped", action="store_true", help="end when stdin is closed")
    parser.add_argument("--cities", default=",".join(CITIES), help="a cell for each of these")
    given = parser.parse_args()
    if lacking := catalog.missing(catalog.chosen(()), catalog.folder()):
        return fail(absence(lacking[0].name))
    interruptible()
    folder = Path(tempfile.mkdtemp(prefix="stack-"))
    keep = False
    try:
        keep = _run(folder, given.cities.split(","), piped=given.piped)
    except Ended as reason:
        keep = True
        return fail(str(reason))
    except KeyboardInterrupt:
        return 0
    finally:
        clean(folder, keep=keep)
    return 0


def _run(folder: Path, cities: Sequence[str], *, piped: bool) -> bool:
    """Run it until it is asked to end. Returns whether the logs are wanted."""
    stack = asyncio.run(_started(folder, cities))
    try:
        say(f"export KUBECONFIG={stack.kubeconfig}")
        say(f"export STACK={stack.folder}")
        say(f"{keeper.READY} {stack.logs}")
        if not piped:
            say(f"kubectl --context {'|'.join(stack.planes)}; Ctrl-C stops it.")
        return _serve(stack.processes, piped=piped)
    finally:
        stack.stop()


async def _started(folder: Path, cities: Sequence[str]) -> Stack:
    for number in range(_TRIES):
        subfolder = folder / str(number)
        subfolder.mkdir()
        stack = Stack(catalog.folder(), subfolder, cities)
        try:
            await stack.start()
        except Ended as reason:
            stack.stop()
            if "address already in use" not in str(reason) or number == _TRIES - 1:
                raise
        except BaseException:
            stack.stop()
            raise
        else:
            return stack
    raise AssertionError("the last try answers or raises")


def _serve(processes: Processes, *, piped: bool) -> bool:
    """Do what the run of tests asks for, until its end of the pipe is closed."""
    while True:
        readable, _, _ = select.select([sys.stdin] if piped else [], [], [], _POLL)
        if not readable:
            processes.check()
            continue
        line = sys.stdin.readline().strip()
        if line in {"", keeper.KEEP}:
            return line == keeper.KEEP
        try:
            processes.obey(*keeper.command(line))
        except (ValueError, OSError, Ended) as reason:
            say(json.dumps(str(reason)))
        else:
            say(keeper.DONE)


if __name__ == "__main__":
    sys.exit(main())
