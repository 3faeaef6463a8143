"""The `compute` command."""

import gc
import sys


def main() -> int:
    """Run the command line; the answer is the exit code."""
    gc.disable()  # until the command starts: imports make much that lives long, and no garbage
    try:
        # Imported here, so that an interrupt during the import is handled.
        from compute.cli.root import run  # noqa: PLC0415

        return run(sys.argv[1:])
    except KeyboardInterrupt:  # before or after the command itself
        return 130


if __name__ == "__main__":
    sys.exit(main())
