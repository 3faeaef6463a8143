"""The `compute` command."""

import sys
from typing import Final

# `cli` may not import what serves, so those commands are handed to it: module, and line in the help.
_SERVING: Final = {
    "up": ("compute.cli.up", "Start the whole platform on this machine."),
    "down": ("compute.cli.down", "Stop it."),
    "cell": ("compute.cli.cell", "Cut its cells off, and heal them."),
    "plane": (
        "compute.cli.plane",
        "Serve a Kubernetes API from a folder of this machine.",
    ),
    "plane-users": (
        "compute.cli.plane_users",
        "Let users into a plane or a project, each with a certificate of their own.",
    ),
    "plane-keys": (
        "compute.cli.plane_keys",
        "Show and change the keys that the secrets of a plane are sealed with.",
    ),
}


def main() -> int:
    """Run the command line; the answer is the exit code."""
    try:
        # So that an interrupt is caught from here.
        from compute.app.logs import show_unhandled  # noqa: PLC0415
        from compute.cli.root import run  # noqa: PLC0415

        show_unhandled()
        return run(sys.argv[1:], _SERVING)
    except KeyboardInterrupt:  # before or after the command itself
        return 130


if __name__ == "__main__":
    sys.exit(main())
