"""`compute instance-types list`: the sizes of instances."""

import sys
from typing import Final

from compute.cli.exits import Exit
from compute.cli.output import phrases
from compute.cli.output.formats import output_option, show_data, show_names
from compute.cli.output.tables import table
from compute.cli.output.terminal import width
from compute.cli.shell.commands import command as compute_command
from compute.cli.streams import show
from compute.cli.understand.offered_cities import offered_cities
from compute.views.project.instance_types import InstanceTypeView, instance_types

_HEADERS: Final = ("NAME", "VCPU", "MEMORY", "CITIES", "DEFAULT")


@compute_command(
    examples=("compute instance-types", "compute instance-types list -o json"), target=True
)
@output_option("table", "json", "yaml", "name")
def command(output: str) -> int:
    """List the sizes of instances.

    DEFAULT marks the one that `deploy` uses for a new workload. Without a server CITIES stays empty.
    """
    if output == "name":
        show_names("instance-type", (each.name for each in instance_types()))
        return Exit.OK
    types = instance_types(offered_cities())
    if output == "table":
        show(table(_HEADERS, map(_row, types), width=width(sys.stdout)))
    else:
        show_data(types, output)
    return Exit.OK


def _row(each: InstanceTypeView) -> tuple[str, ...]:
    cities = phrases.listed(each.cities or ())
    return each.name, f"{each.vcpu:g}", each.memory_text, cities, "yes" if each.default else "-"
