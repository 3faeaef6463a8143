"""`compute deploy`: create or update workloads from flags or files, and wait until they run."""

from typing import TYPE_CHECKING, Any

import click

from compute.cli.deploy.deploy_command import DeployCommand
from compute.cli.deploy.deploy_options import deploy_inputs
from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.parameters import timeout_option

if TYPE_CHECKING:
    from compute.cli.deploy.deploy_inputs import DeployInputs
    from compute.cli.deploy.deploy_mode import DeployMode


@click.command(
    "deploy",
    cls=DeployCommand,
    examples=(
        "compute deploy web --image nginx:1 --city DFW,LHR --min 2",
        "compute deploy -f web.yaml --dry-run --diff",
        "compute deploy web --image nginx:2 --detach -o name",
        "compute deploy web --image nginx:2 --pause-after 1 --city-order LHR --auto-undo",
    ),
    exits=(
        Exit.NOT_YET, Exit.FAILED, Exit.UNKNOWN, Exit.BLOCKED, Exit.NOT_FOUND, Exit.CONFLICT,
        Exit.DECLINED, Exit.NOT_ENABLED, Exit.DENIED, Exit.PENDING, Exit.UNAVAILABLE, Exit.TIMED_OUT, Exit.DIFFERS,
        Exit.INTERRUPTED,
    ),
    target=True,
)  # fmt: skip
@deploy_inputs
@click.option("-y", "--yes", is_flag=True, help="Answer every question with yes.")
@click.option(
    "--dry-run", metavar="[client|server]", type=click.Choice(["client", "server"]),
    help="Change nothing. server, which is meant without a value, lets the server check it.",
)  # fmt: skip
@click.option("--diff", is_flag=True, help="Show what would change, and stop; as `compute diff`.")
@click.option("--exit-code", is_flag=True, help="End with 20 if --diff or --dry-run has changes.")
@click.option("--detach", is_flag=True, help="Do not wait for the rollout.")
@click.option(
    "--auto-undo", is_flag=True,
    help="If the rollout fails, go back as `compute rollout undo` does; it still ends with 4.",
)  # fmt: skip
@timeout_option()
@click.option(
    "--save", metavar="[FILE]", help="Write the workload as a manifest to FILE, or to NAME.yaml."
)
@output_option("table", "json", "yaml", "name", "jsonl")
def command(inputs: "DeployInputs", **options: Any) -> int:  # noqa: ANN401 -- click passes options by name
    """Create or update workloads, and wait until they run.

    With NAME and flags, an existing workload keeps everything that the flags do not name. With -f, the
    files decide on all of it. The plan is shown first, city by city with the quota it needs, and on a
    terminal you are asked.
    """
    from compute.cli.deploy.deploy_mode import DeployMode  # noqa: PLC0415 -- not for help
    from compute.cli.deploy.deploy_run import run_deploy  # noqa: PLC0415 -- as above
    from compute.cli.shell.session import in_project  # noqa: PLC0415 -- as above

    mode = DeployMode(**options)
    _refuse_meaningless(inputs, mode)
    return in_project(lambda session: run_deploy(session, inputs, mode))


def _refuse_meaningless(inputs: "DeployInputs", mode: "DeployMode") -> None:
    """Refuse flags that mean nothing together."""
    stops = "--dry-run" if mode.dry_run else "--diff"
    if mode.detach and not mode.writes:
        raise click.UsageError(f"--detach: {stops} starts nothing to wait for; leave it out")
    if mode.auto_undo and (mode.detach or not mode.writes):
        flag = "--detach" if mode.detach else stops
        raise click.UsageError(f"--auto-undo: with {flag} no rollout can fail; leave one out")
    if mode.exit_code and mode.writes:
        raise click.UsageError("--exit-code: it is for --diff and --dry-run; leave it out")
    if mode.output == "jsonl" and (mode.detach or not mode.writes):
        raise click.UsageError("-o jsonl follows a rollout; give -o json here")
    if mode.save is not None and inputs.files:
        raise click.UsageError("--save and -f exclude each other: the file is there already")
    context = click.get_current_context()
    source = context.get_parameter_source("timeout")
    if source is click.core.ParameterSource.COMMANDLINE and (mode.detach or not mode.writes):
        flag = "--detach" if mode.detach else stops
        raise click.UsageError(f"--timeout: with {flag} there is no wait; leave it out")
