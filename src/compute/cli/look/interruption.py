"""How Ctrl-C ends a command that follows something until the user ends it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from compute.cli.exits import Exit, Quit
from compute.cli.output.terminal import is_terminal


@contextmanager
def ends_on_interrupt() -> Iterator[None]:
    """Ctrl-C is how a person ends it, which is no error. Without a terminal the code is 130."""
    try:
        yield
    except KeyboardInterrupt:
        if not is_terminal(sys.stdout):
            raise
        print(file=sys.stderr)  # the prompt of the shell starts on a line of its own
        raise Quit(Exit.OK) from None
