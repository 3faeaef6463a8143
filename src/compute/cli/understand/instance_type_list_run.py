"""What `compute instance-types list` does."""

import sys
from typing import Final

from compute.cli.exits import Exit
from compute.cli.output import phrases
from compute.cli.output.formats import show_data, show_names
from compute.cli.output.tables import table
from compute.cli.output.terminal import width
from compute.cli.streams import show
from compute.cli.understand.offered_cities import offered_cities
from compute.views.project.instance_types import InstanceTypeView, instance_types

_HEADERS: Final = ("NAME", "VCPU", "MEMORY", "CITIES", "DEFAULT")


def run(output: str) -> int:
    """Run it. The arguments are those of the command."""
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
