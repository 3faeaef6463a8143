"""The main job, shown with the command line alone: deploy to three cities, break it, repair it.

make demo           leaves the platform running, to go on by hand
make demo ONCE=1    stops it at the end; the exit code is 0 only if every command ended as it should
"""

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from compute.cli.exits import Exit

ROOT: Final = Path(__file__).parents[1]
COMPUTE: Final = Path(sys.executable).with_name("compute")
_IMAGE: Final = "hello"
# The settings of another platform must not lead the demo there.
_FOREIGN: Final = ("COMPUTE_", "DATUM_", "KUBECONFIG")


@dataclass(frozen=True, slots=True)
class Step:
    """A command, what it shows, and how it ends."""

    title: str
    command: str
    code: Exit = Exit.OK


_UP: Final = "up --detach --port 0 --cities DFW,LHR,SIN --cell-timeout 5s"
STORY: Final = (
    Step(
        "Deploy two instances to each of three cities.",
        f"deploy hello --image {_IMAGE}:1 --city DFW,LHR,SIN --min 2 --yes",
    ),
    Step("Look at it.", "status hello"),
    Step("Restart it: in each city one instance at a time.", "restart hello"),
    Step(
        "Deploy an image that does not exist. The running instances keep serving.",
        f"deploy hello --image {_IMAGE}:does-not-exist --yes",
        Exit.FAILED,
    ),
    Step("Which city is stuck, why, and what to type next?", "status hello"),
    Step("Undo it.", "rollout undo hello --yes"),
    Step("Cut London off. Its instances keep running.", "cell cut LHR --wait"),
    Step("The status says how old the data of London is.", "status hello"),
    Step("Connect London again.", "cell heal LHR --wait"),
    Step("Destroy it in all cities.", "destroy hello --yes --wait"),
)


def _meaning(code: int) -> str:
    """What an exit code of the command stands for."""
    return next((known.meaning for known in Exit if known == code), "unknown")


class Demo:
    """Runs commands in a world of the demo's own."""

    def __init__(self, data: Path) -> None:
        self._data = data
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(_FOREIGN)}
        self._environment = inherited | {"COMPUTE_DATA": str(data)}

    def play(self, step: Step) -> bool:
        """Run a command as it is shown. False if it ended otherwise than it should."""
        print(f"\n# {step.title}\n$ compute {step.command}", flush=True)
        code = self.run(*shlex.split(step.command))
        if code:
            print(f"[exit code {code}: {_meaning(code)}]", flush=True)
        return code == step.code

    def run(self, *arguments: str) -> int:
        return subprocess.run([COMPUTE, *arguments], check=False, env=self._environment).returncode

    def is_up(self) -> bool:
        """Whether the platform of an earlier demo still runs."""
        done = subprocess.run(
            [COMPUTE, "up", "status"], check=False, env=self._environment, capture_output=True
        )
        return done.returncode == 0

    def say_goodbye(self) -> None:
        print(
            "\nThe platform still runs. Go on with it:\n"
            f"  export COMPUTE_DATA={shlex.quote(str(self._data))} PATH={shlex.quote(str(COMPUTE.parent))}:$PATH\n"
            "  compute deploy web --image registry.example.test/team/web:1 --city LHR\n"
            "  compute top\n"
            "  compute down\n"
            "docs/tour.md is a longer walk."
        )


def main(data: Path, *, once: bool) -> int:
    """Show it all; the answer is the exit code."""
    demo = Demo(data.resolve())
    start = () if demo.is_up() else (Step("Start the whole platform on this machine.", _UP),)
    failed = _failed(demo, (*start, *STORY))
    if failed:
        print(f"\nThe demo went wrong: compute {failed.command}", file=sys.stderr)
    if once:
        stopped = demo.play(Step("Stop the platform.", "down"))
        return 1 if failed or not stopped else 0
    if failed:
        return 1
    demo.say_goodbye()
    return 0


def _failed(demo: Demo, steps: Sequence[Step]) -> Step | None:
    return next((step for step in steps if not demo.play(step)), None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--once", action="store_true", help="stop the platform at the end")
    parser.add_argument(
        "--data", type=Path, default=ROOT / ".demo", help="the folder of the platform"
    )
    given = parser.parse_args()
    sys.exit(main(given.data, once=given.once))
