"""Folders that are named on the command line."""

import os

import click


class Folder(click.Path):
    """A folder that was named. An unset variable must not mean this one."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        if not str(value):
            self.fail("the name is empty; write . for this folder", param, ctx)
        return super().convert(value, param, ctx)
