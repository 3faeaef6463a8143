"""The `compute` command."""

import sys


def main() -> int:
    """Run the command line; the answer is the exit code."""
    try:
        # Imported here, so that an interrupt during the import is handled.
        from compute.app.logs import show_unhandled  # noqa: PLC0415
        from compute.cli.root import run  # noqa: PLC0415

        show_unhandled()
        return run(sys.argv[1:])
    except KeyboardInterrupt:  # before or after the command itself
        return 130


if __name__ == "__main__":
    sys.exit(main())
