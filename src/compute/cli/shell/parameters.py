"""Types of arguments and options that several commands share."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final, TypeVar

import click

from compute.cli.completion import values
from kubekit.api import times

T = TypeVar("T")


class DurationType(click.ParamType[timedelta]):
    """A duration such as ``90s``, ``5m`` or ``1h30m``."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        if isinstance(value, timedelta):
            return value
        try:
            duration = times.parse_duration(str(value))
        except times.TimeError as error:
            self.fail(str(error), param, ctx)
        if duration < timedelta():
            self.fail(f"{value} is negative; give a duration such as 5m", param, ctx)
        return duration


DURATION: Final = DurationType()

# Values of further options complete by `shell_complete=values.instance_types`, `.networks`, `.revisions`:
# see `compute.cli.completion.values`.


def workload_argument(function: Callable[..., T]) -> Callable[..., T]:
    """``NAME``, the name of a workload. The command gets it as ``name``."""
    return click.argument("name", metavar="NAME", shell_complete=values.workloads)(function)


def optional_workload_argument(function: Callable[..., T]) -> Callable[..., T]:
    """``[NAME]``, the name of a workload. The command gets it as ``name``; None if there is none."""
    return click.argument(
        "name", metavar="[NAME]", required=False, shell_complete=values.workloads
    )(function)  # fmt: skip


def workloads_argument(function: Callable[..., T]) -> Callable[..., T]:
    """``NAME...``, the names of workloads. The command gets them as ``names``."""
    return click.argument(
        "names", metavar="NAME...", nargs=-1, required=True, shell_complete=values.workloads
    )(function)  # fmt: skip


def workload_option(function: Callable[..., T]) -> Callable[..., T]:
    """``--workload NAME``. The command gets it as ``workload``; an empty text if it is not given."""
    return click.option(
        "--workload", metavar="NAME", default="", shell_complete=values.workloads,
        help="Only this workload.",
    )(function)  # fmt: skip


def instance_argument(function: Callable[..., T]) -> Callable[..., T]:
    """``NAME``, the name of an instance. The command gets it as ``name``."""
    return click.argument("name", metavar="NAME", shell_complete=values.instances)(function)


def city_option(function: Callable[..., T]) -> Callable[..., T]:
    """``--city`` and ``--location``, one option: codes, separated by commas or repeated."""
    return click.option(
        "--city", "--location", "cities", multiple=True, metavar="CODE,...", callback=_cities,
        shell_complete=values.cities,
        help="Only these cities; a code such as DFW, or the name of a location.",
    )(function)  # fmt: skip


def _cities(_: click.Context, parameter: click.Parameter, value: Sequence[str]) -> tuple[str, ...]:
    codes = [code.strip() for text in value for code in text.split(",")]
    if not all(codes):
        raise click.BadParameter("a city code is empty", param_hint=parameter.opts[0])
    return tuple(dict.fromkeys(code.upper() for code in codes))


def timeout_option(default: str = "10m") -> Callable[[Callable[..., T]], Callable[..., T]]:
    """``--timeout``, for a command that waits."""
    return click.option(
        "--timeout", type=DURATION, default=default, show_default=True, metavar="DURATION",
        help="How long to wait; 0s for no limit.",
    )  # fmt: skip
