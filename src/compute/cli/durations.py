"""Durations as options of a command: ``90s``, ``5m``, ``1h30m``."""

from datetime import timedelta
from typing import Final

import click

from kubekit.api import times


class _Duration(click.ParamType[timedelta]):
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
            self.fail(f"{value} is negative; name the time that is to pass, such as 5m", param, ctx)
        return duration


DURATION: Final = _Duration()
