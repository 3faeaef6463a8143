"""Questions. They are asked on stderr and on a terminal only; without one the answer is never guessed."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from compute.cli.output.tables import block
from compute.cli.output.terminal import is_interactive

ASSUME_YES: Final = "COMPUTE_ASSUME_YES"
"""With 1 as its value, it answers the questions of deletions with yes."""


def can_ask() -> bool:
    return is_interactive()


def confirmed(question: str, *, default: bool) -> bool:
    """The answer to a question. Return alone means the default; Ctrl-D means no."""
    choices = "Y/n" if default else "y/N"
    while True:
        try:
            with _interruptible():
                print(f"{block(question)} [{choices}]: ", end="", file=sys.stderr, flush=True)
                answer = input().strip().casefold()
        except EOFError:
            print(file=sys.stderr)
            return False
        if not answer:
            return default
        if answer in {"y", "yes"}:
            return True
        if answer in {"n", "no"}:
            return False


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end the question. The handler of asyncio would only note it, and wait for an answer."""
    known = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, known)


def notify(text: str = "") -> None:
    """Print prose, with control characters escaped. It goes to stderr, since stdout is for data."""
    print(block(text), file=sys.stderr, flush=True)
