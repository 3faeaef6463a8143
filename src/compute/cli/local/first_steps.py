"""What to type first in a world that has just started."""

import shlex
from collections.abc import Sequence
from typing import Final

from compute.app.sites import CellSite
from compute.app.system_environment import system
from compute.app.world_folder import WorldFolder
from compute.cli.exits import Failure
from compute.cli.invocation import spelled
from compute.cli.target.resolution import resolve

_NAME: Final = "hello"
_IMAGE: Final = "registry.example.test/team/hello:1"
_MOST_CITIES: Final = 3


def first_steps(folder: WorldFolder, sites: Sequence[CellSite]) -> str:
    """The commands, each on a line of its own, and the file for kubectl."""
    cities = ",".join(list(dict.fromkeys(site.city for site in sites))[:_MOST_CITIES])
    lines = [
        *_selection(folder),
        f"compute deploy {_NAME} --image {_IMAGE} --city {cities}",
        "compute status",
        folder.command("down"),
    ]
    commands = [spelled(f"  {line}") for line in lines]
    kubeconfig = f"  export KUBECONFIG={shlex.quote(str(folder.kubeconfig))}"
    return "\n".join([*commands, "", "For kubectl:", kubeconfig])


def _selection(folder: WorldFolder) -> list[str]:
    """What makes commands use this world, where they would use another server."""
    try:
        target = resolve({}, system())
    except Failure:
        target = None
    if target and target.world and target.world.resolve() == folder.data:
        return []
    return [f"export COMPUTE_DATA={shlex.quote(str(folder.data))}"]
