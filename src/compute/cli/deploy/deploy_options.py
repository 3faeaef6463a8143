"""The options that `deploy` and `diff` share.

    @deploy_inputs
    def command(inputs: DeployInputs, ...): ...

Help and completion import this module, so what the options mean is in another one.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

import click

from compute.cli.completion import values
from compute.cli.shell.parameters import optional_workload_argument

T = TypeVar("T")


def deploy_inputs(function: Callable[..., T]) -> Callable[..., T]:
    """Add the options. The command gets `DeployInputs` as ``inputs``."""

    @wraps(function)
    def wrapped(**options: Any) -> T:  # noqa: ANN401 -- click passes options by name
        from compute.cli.deploy.deploy_inputs import OPTIONS, read_inputs  # noqa: PLC0415 -- as above

        own = {key: options.pop(key) for key in OPTIONS}
        return function(read_inputs(own), **options)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return optional_workload_argument(wrapped)


_OPTIONS: Final = (
    click.option(
        "-f", "--file", "files", multiple=True, metavar="FILE", shell_complete=values.files,
        help="Manifests: a file, a folder, or - for stdin. May be given several times.",
    ),
    click.option("--image", metavar="IMAGE", help="The image to run."),
    click.option(
        "--city", "--location", "cities", multiple=True, metavar="CODE,...",
        shell_complete=values.cities,
        help="Where to run: codes of cities such as DFW, or names of locations.",
    ),
    click.option(
        "--location-selector", metavar="KEY=VALUE,...",
        help="The cities whose labels match now, such as topology.datum.net/country=US.",
    ),
    click.option("--min", "minimum", type=int, metavar="N", help="Instances in each city."),
    click.option(
        "--max", "maximum", type=int, metavar="N",
        help="The most instances in each city, with --cpu-percent; 0 turns scaling by load off.",
    ),
    click.option(
        "--cpu-percent", type=int, metavar="N", help="The load to scale by, with --max; 0: off."
    ),
    click.option("--memory-percent", type=int, hidden=True),
    click.option(
        "--instance-type", metavar="TYPE", shell_complete=values.instance_types,
        help="The size of an instance.",
    ),
    click.option(
        "--network", metavar="NAME", shell_complete=values.networks,
        help="The network to attach to; created after a question, or with -y.",
    ),
    click.option(
        "--env", multiple=True, metavar="KEY=VALUE", help="A variable; KEY- removes it."
    ),
    click.option(
        "--env-from-configmap", multiple=True, metavar="NAME[:PREFIX]",
        help="A variable for each key that the ConfigMap has now; NAME- removes them.",
    ),
    click.option(
        "--env-from-secret", multiple=True, metavar="NAME[:PREFIX]",
        help="A variable for each key that the Secret has now; NAME- removes them.",
    ),
    click.option(
        "--configmap", multiple=True, metavar="NAME:/PATH",
        help="The keys of a ConfigMap as files; NAME- removes them.",
    ),
    click.option(
        "--secret", multiple=True, metavar="NAME:/PATH",
        help="The keys of a Secret as files; NAME- removes them.",
    ),
    click.option(
        "--label", multiple=True, metavar="KEY=VALUE",
        help="A label of the workload and its instances; KEY- removes it.",
    ),
    click.option(
        "--port", "ports", multiple=True, metavar="[NAME=]PORT",
        help="A port the container listens on; NAME- removes it. It publishes nothing.",
    ),
    click.option(
        "--http-port", type=int, metavar="PORT",
        help="The same for the port named http.",
    ),
    click.option("--no-http", is_flag=True, help="Remove the port named http."),
    click.option("--command", metavar="WORDS", help="What to start, in place of the image's own."),
    click.option(
        "--args", metavar="WORDS", help="Its arguments; or write them after --."
    ),
    click.option(
        "--container", metavar="NAME", help="Which of several containers; else the one named app."
    ),
    click.option(
        "--image-pull-secret", multiple=True, metavar="NAME",
        help="A Secret that opens a private registry; NAME- removes it.",
    ),
    click.option(
        "--placement", metavar="NAME",
        help="Which of several placements; a new one if there is none of the name.",
    ),
    click.option(
        "--strategy", metavar="ORDER",
        help="OrderedReady: start one instance after the other. Parallel: all at once.",
    ),
    click.option(
        "--max-unavailable", metavar="N|N%",
        help="Instances of a city that an update may replace at once; an empty text removes it.",
    ),
    click.option(
        "--pause-after", type=int, metavar="N",
        help="Change the first N cities only; the others are paused until `compute rollout resume`.",
    ),
    click.option(
        "--city-order", multiple=True, metavar="CODE,...", shell_complete=values.cities,
        help="The order of the cities for --pause-after; cities without a place come last.",
    ),
    click.option(
        "--set", "settings", multiple=True, metavar="PATH=VALUE",
        help="Any field, such as spec.placements[default].scaleSettings.minReplicas=2.",
    ),
    click.option(
        "--revision-note", metavar="TEXT", help="A note that `compute rollout history` shows."
    ),
    click.option("--build", metavar="DIR", hidden=True),
    click.option("--runtime-class", metavar="NAME", hidden=True),
)  # fmt: skip
