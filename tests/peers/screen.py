"""What a process that runs real servers prints, and what it leaves behind."""

import shutil
import signal
import sys
from pathlib import Path

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def absence(name: str) -> str:
    """What to say where a binary is missing."""
    return f"{name} is not there: make peers"


def say(line: str) -> None:
    """Print a line, which a reader of our output gets at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def fail(reason: str) -> int:
    """Print why there are no servers. The answer is the exit code."""
    say(reason)
    return 1


def clean(folder: Path, *, keep: bool) -> None:
    """Remove everything, or all but the logs, which are in the folder of each try."""
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)
        return
    for path in folder.glob("*/*"):
        if path.is_dir() and path.name != "log":
            shutil.rmtree(path, ignore_errors=True)
        elif path.is_file():
            path.unlink()
    say(f"the logs are kept in {folder}")


def interruptible() -> None:
    """Have signals end the process in order, as Ctrl-C does."""
    for number in _SIGNALS:
        signal.signal(number, _interrupt)


def _interrupt(*_: object) -> None:
    """End once: a second signal must not keep the process from ending its programs."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
