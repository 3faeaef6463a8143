"""The `compute` command."""

import gc
import sys


def main() -> int:
    """Run the command line; the answer is the exit code."""
    return _run(sys.argv[1:])


def manage() -> int:
    """`compute-manager`: the command `compute manager`, under the name that manifests use."""
    return _run(["manager", *sys.argv[1:]])


def complete_for_kubectl() -> int:
    """`kubectl_complete-compute`: kubectl calls it with the words to complete."""
    return _run(["__complete", *sys.argv[1:]])


def _run(arguments: list[str]) -> int:
    gc.disable()  # until the command starts: imports make much that lives long, and no garbage
    try:
        # Imported here, so that an interrupt during the import is handled.
        from compute.cli.root import run  # noqa: PLC0415

        return run(arguments)
    except KeyboardInterrupt:  # before or after the command itself
        return 130


if __name__ == "__main__":
    sys.exit(main())
