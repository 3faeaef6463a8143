"""The `compute` command."""

import sys


def main() -> int:
    """Run the command line; the answer is the exit code."""
    from compute.cli.root import run  # noqa: PLC0415 - nothing is imported before it is needed

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
