"""The user's editor on a file of its own, which stays where something fails, so that no text is lost."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from compute.cli.exits import Exit, Failure

_FALLBACK: Final = "vi"
_HELP: Final = "compute workloads edit --help"


def editor_command(variables: Mapping[str, str] = os.environ) -> list[str]:
    """The editor: VISUAL, else EDITOR, else vi on a terminal."""
    named = variables.get("VISUAL") or variables.get("EDITOR")
    if named:
        try:
            return shlex.split(named)
        except ValueError as error:
            raise Failure(
                f"the editor {named!r} is no command: {error}", Exit.USAGE, next_step=_HELP
            ) from error
    if sys.stdin.isatty() and shutil.which(_FALLBACK):
        return [_FALLBACK]
    raise Failure(
        "there is no editor: set VISUAL or EDITOR, such as EDITOR=nano",
        Exit.USAGE,
        next_step=_HELP,
    )


def edit_file(command: list[str], file: Path) -> None:
    """Run the editor until it ends. Ctrl-C is for the editor meanwhile."""
    try:
        with _interrupts_ignored():
            run = subprocess.run([*command, str(file)], check=False)  # noqa: S603 -- the user's own
    except OSError as error:
        raise Failure(
            f"the editor {command[0]} cannot be started: {error.strerror}", next_step=_HELP
        ) from error
    if run.returncode:
        raise Failure(
            f"the editor {command[0]} ended with code {run.returncode}; nothing was changed"
        )


def new_file(name: str) -> Path:
    """An empty file that only the user can read."""
    handle, path = tempfile.mkstemp(prefix=f"compute-edit-{name}-", suffix=".yaml")
    os.close(handle)
    return Path(path)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    # A handler of our own is not inherited by the editor, unlike SIG_IGN.
    known = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, known)
