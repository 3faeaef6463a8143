"""`compute rollout resume`, also `promote`: continues a paused rollout."""

from collections.abc import Sequence
from datetime import timedelta

from compute.cli.change.wait_options import ROLLOUT_EXITS, wait_options
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import city_option, workload_argument


@compute_command(
    examples=(
        "compute rollout resume web",
        "compute rollout resume web --city DFW --wait --timeout 5m",
    ),
    exits=ROLLOUT_EXITS,
    target=True,
)
@workload_argument
@city_option
@wait_options(default=False)
@output_option("table", "json", "yaml", "name")
def command(
    *, name: str, cities: Sequence[str], wait: bool, timeout: timedelta, output: str
) -> int:
    """Continue a paused rollout, everywhere or in some cities; the others stay paused."""
    from compute.cli.change.rollouts.rollout_resume_run import run  # noqa: PLC0415 -- not for help

    return run(name=name, cities=cities, wait=wait, timeout=timeout, output=output)
