"""`make peers`: have the real peers built, or say in one line that they are, or why not."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tools.peers import building, catalog, locking
from tools.peers.building import Builder, Go
from tools.peers.catalog import Binary
from tools.peers.commands import Failed, Runner


class Unable(Exception):
    """The machine cannot build them. It is a failure only where they are required."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build what is missing of the names given, or of all."""
    parser = argparse.ArgumentParser(prog="python -m tools.peers", description=__doc__)
    names = " ".join([*catalog.BINARIES, *catalog.SETS])
    parser.add_argument("names", nargs="*", help=f"of these, or all: {names}")
    parser.add_argument(
        "--where", action="store_true", help="only print the folder of the binaries"
    )
    given = parser.parse_args(arguments)
    folder = catalog.folder()
    if given.where:
        print(folder / "bin")
        return 0
    return _answered(given.names, folder)


def _answered(names: Sequence[str], folder: Path) -> int:
    """The exit code. Every outcome prints one line."""
    try:
        _ensure(catalog.chosen(names), folder)
    except Unable as reason:
        _say(str(reason))
        return 1 if os.environ.get("REQUIRE_PEERS") == "1" else 0
    except (Failed, catalog.Unknown) as reason:
        _say(f"stopped: {reason}")
        return 1
    except OSError as reason:
        _say(f"stopped: {reason.strerror or reason}: {reason.filename or folder}")
        return 1
    except KeyboardInterrupt:
        _say("interrupted; the same command continues from here")
        return 130
    return 0


def _ensure(binaries: Sequence[Binary], folder: Path) -> None:
    if not catalog.missing(binaries, folder):
        _nothing_to_do(binaries, folder)
        return
    environment = building.environment()
    runner = Runner(_say, environment)
    go = _usable(building.find_go(runner, folder, environment), binaries)
    with locking.locked(folder / "lock", _say) as lock:
        missing = catalog.missing(binaries, folder)
        if not missing:  # another has built them meanwhile
            _nothing_to_do(binaries, folder)
            return
        start = time.monotonic()
        _say(f"{len(missing)} to build into {folder / 'bin'}: {_names(missing)}")
        if warning := building.shortage(go, folder, missing):
            _say(warning)
        Builder(folder, runner, go, _say).build(missing, lock.note)
        _say(f"{len(missing)} built in {time.monotonic() - start:.0f} s")


def _usable(go: Go | None, binaries: Sequence[Binary]) -> Go:
    needed = max(binary.source.go for binary in binaries)
    wanted = ".".join(map(str, needed))
    if go is None:
        raise Unable(f"there is no go on the PATH; install Go {wanted} or newer to have real peers")
    if go.version < needed:
        version = ".".join(map(str, go.version))
        if not go.fetches:
            raise Unable(f"Go {version} is too old; install {wanted} or newer to have real peers")
        _say(f"Go {version} will fetch a newer one of itself, as {wanted} is needed")
    return go


def _nothing_to_do(binaries: Sequence[Binary], folder: Path) -> None:
    _say(f"nothing to do, {folder / 'bin'} has {_names(binaries)}")


def _names(binaries: Sequence[Binary]) -> str:
    return ", ".join(binary.name for binary in binaries)


def _say(line: str) -> None:
    print(f"peers: {line}", flush=True)


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupted)
    sys.exit(main())
