"""`compute plan`: what Workload manifests would create, and what is wrong with them."""

from collections.abc import Sequence

import click

from compute.cli.shell.commands import command as compute_command


@compute_command(
    examples=(
        "compute plan -f web.yaml",
        "compute plan -f shop/ --cities DFW,LHR -o json",
    ),
)
@click.option(
    "-f", "--file", "files", multiple=True, required=True, metavar="FILE",
    help="A manifest, YAML or JSON, or a folder of them; `-` reads stdin. May be given several times.",
)  # fmt: skip
@click.option(
    "--cities", "--city", multiple=True, metavar="CODE,...",
    help="The cities your project is offered. Without it, those the manifests name.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table",
    show_default=True, help="How to print the plan.",
)  # fmt: skip
def command(files: Sequence[str], cities: Sequence[str], output: str) -> int:
    """Show what Workload manifests would create, and what is wrong with them.

    Nothing is contacted and nothing is changed. Exits with 1 when a manifest is not valid.
    """
    from compute.cli.deploy.plan_run import run  # noqa: PLC0415 -- not for help

    return run(files, cities, output)
