"""`compute rollout pause`: holds changes of the template back, everywhere or in some cities."""

from collections.abc import Sequence

from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import city_option, workload_argument


@compute_command(
    examples=("compute rollout pause web", "compute rollout pause web --city LHR,SIN"),
    exits=(Exit.NOT_FOUND, Exit.CONFLICT),
    target=True,
)
@workload_argument
@city_option
@output_option("table", "json", "yaml", "name")
def command(name: str, cities: Sequence[str], output: str) -> int:
    """Hold back changes of the template, everywhere or in some cities.

    What runs keeps running; scaling and the replacement of broken instances go on. Without --city, cities
    that are added later are paused too.
    """
    from compute.cli.change.rollouts.rollout_pause_run import run  # noqa: PLC0415 -- not for help

    return run(name, cities, output)
