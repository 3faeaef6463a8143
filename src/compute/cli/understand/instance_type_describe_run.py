"""What `compute instance-types describe` does."""

from collections.abc import Iterator

from compute.cli.exits import Exit, Failure
from compute.cli.output.formats import show_data
from compute.cli.shell.groups import nearest
from compute.cli.streams import show
from compute.cli.understand.offered_cities import offered_cities
from compute.views.project.instance_types import InstanceTypeView, found_type, instance_types


def run(name: str, output: str) -> int:
    """Run it. The arguments are those of the command."""
    if found_type(name, instance_types()) is None:
        raise _unknown(name)
    wanted = found_type(name, instance_types(offered_cities()))
    assert wanted is not None  # it was found before
    if output == "table":
        show("\n".join(_lines(wanted)))
    else:
        show_data(wanted, output)
    return Exit.OK


def _unknown(name: str) -> Failure:
    known = {spelling: each.name for each in instance_types() for spelling in _spellings(each)}
    near = nearest(name.casefold(), known)
    hint = f"; did you mean {known[near]}?" if near else ""
    return Failure(
        f'there is no instance type "{name}"{hint}',
        Exit.NOT_FOUND,
        next_step="compute instance-types",
        reason="NotFound",
    )


def _spellings(each: InstanceTypeView) -> tuple[str, ...]:
    return each.name, *each.spellings


def _lines(each: InstanceTypeView) -> Iterator[str]:
    yield f"{each.name}{' (the default of a new workload)' if each.default else ''}"
    yield f"  vCPU:    {each.vcpu:g}"
    yield f"  Memory:  {each.memory_text}"
    yield f"  Also:    {', '.join(each.spellings)}"
    if each.cities is not None:
        yield f"  Cities:  {', '.join(each.cities) or '-'}"
