"""`compute manager`: the controllers on Kubernetes clusters, each role enabled by a flag."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import click

from compute.app.logs import LEVELS
from compute.cli.shell.commands import command as command_of

_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_PATH: Final = click.Path(path_type=Path)

T = TypeVar("T")


def _switch(
    flag: str, variable: str, text: str, name: str = ""
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """A flag that may have a value, since manifests write ``--flag=$(VARIABLE)``."""
    return click.option(
        flag, *filter(None, [name]), type=bool, is_flag=False, flag_value=True, default=False,
        envvar=variable, metavar="[=true|false]", help=text,
    )  # fmt: skip


@command_of(
    name="manager",
    examples=(
        "compute manager --enable-management-controllers --federation-kubeconfig hub.yaml",
        "compute manager --enable-cell-controllers --provider pods --leader-elect",
    ),
)
@_switch(
    "--enable-management-controllers", "ENABLE_MANAGEMENT_CONTROLLERS",
    "Split Workloads into deployments, send them to the hub, and bring their status back.",
    "management",
)  # fmt: skip
@_switch(
    "--enable-cell-controllers", "ENABLE_CELL_CONTROLLERS",
    "Run the deployments that reach this cell as instances, and report them to the hub.", "cell",
)  # fmt: skip
@click.option(
    "--provider", default="", envvar="PROVIDER", metavar="NAME",
    help="What runs instances in this cell: pods, or simulated.",
)  # fmt: skip
@_switch(
    "--pods-allow-root", "PODS_ALLOW_ROOT",
    "Let the processes of images run as root, with the provider pods.",
)  # fmt: skip
@click.option(
    "--stand-ins", metavar="NAME,...", default="", envvar="STAND_INS",
    help="Neighbours to stand in for: quota, networks, locations, projects, entitlements, or all.",
)  # fmt: skip
@click.option(
    "--server-config", type=_FILE, metavar="FILE", envvar="SERVER_CONFIG",
    help="The configuration, of the kind WorkloadOperator.",
)  # fmt: skip
@click.option(
    "--kubeconfig", type=_FILE, metavar="FILE",
    help="The manager's own cluster; else KUBECONFIG, or the service account of its pod.",
)  # fmt: skip
@click.option(
    "--federation-kubeconfig", type=_FILE, metavar="FILE", envvar="FEDERATION_KUBECONFIG",
    help="The hub, a Karmada API server.",
)  # fmt: skip
@click.option(
    "--federation-context", metavar="NAME", default="", envvar="FEDERATION_CONTEXT",
    help="The context of --federation-kubeconfig, if not its current one.",
)  # fmt: skip
@click.option(
    "--cells-kubeconfig", type=_PATH, metavar="PATH", envvar="CELLS_KUBECONFIG",
    help="For stand-ins: a kubeconfig, or a folder of them, with a context for each cell.",
)  # fmt: skip
@click.option(
    "--city", metavar="CODE", default="", envvar="CITY",
    help="The city of this cell: only its deployments are watched on the hub.",
)  # fmt: skip
@_switch("--leader-elect", "LEADER_ELECT", "Compete for a lease, so that several replicas can run.")
@click.option(
    "--leader-elect-namespace", metavar="NAME", default="compute-system", show_default=True,
    envvar="LEADER_ELECT_NAMESPACE", help="The namespace of the leases, which must exist.",
)  # fmt: skip
@click.option(
    "--health-probe-bind-address", metavar="ADDRESS", default=":8081", show_default=True,
    envvar="HEALTH_PROBE_BIND_ADDRESS", help="Where /healthz and /readyz are served; 0 for nowhere.",
)  # fmt: skip
@click.option(
    "--feature-gates", metavar="NAME=BOOL,...", default="", envvar="FEATURE_GATES",
    help="Features to switch on or off, such as NetworkingIntegration=true.",
)  # fmt: skip
@click.option(
    "--log-level", type=click.Choice(LEVELS), default="info", show_default=True,
    envvar="LOG_LEVEL", help="The lowest level of log records on stderr.",
)  # fmt: skip
def command(**options: object) -> int:
    """Run controllers on Kubernetes clusters, with Karmada as the hub.

    All roles are off by default. Every option can be set by an environment variable, as the manifests
    in config/ do. It serves probes, metrics and admission webhooks, and ends with SIGTERM after the
    running work.
    """
    from compute.cli.operate.manager_run import run  # noqa: PLC0415 -- help needs none of it

    return run(options)
