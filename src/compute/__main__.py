"""The `compute` command."""

import sys


def main() -> int:
    """Run the command line; the answer is the exit code."""
    try:
        from compute.cli.root import run  # noqa: PLC0415 - so that an interrupt is caught from here

        return run(sys.argv[1:])
    except KeyboardInterrupt:  # before or after the command itself
        return 130


if __name__ == "__main__":
    sys.exit(main())
