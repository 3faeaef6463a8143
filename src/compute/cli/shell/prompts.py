"""Questions. They are asked on stderr and on a terminal only; without one the answer is never guessed."""

import sys

from compute.cli.output.terminal import is_interactive


def can_ask() -> bool:
    return is_interactive()


def confirmed(question: str, *, default: bool) -> bool:
    """The answer to a question. Return alone means the default; Ctrl-D means no."""
    choices = "Y/n" if default else "y/N"
    while True:
        print(f"{question} [{choices}]: ", end="", file=sys.stderr, flush=True)
        try:
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


def notify(text: str = "") -> None:
    """Print prose. It goes to stderr, since stdout is for data."""
    print(text, file=sys.stderr, flush=True)
