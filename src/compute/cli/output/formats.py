"""The values of ``-o``, and data in each format that is for programs.

JSON is ASCII with two spaces of indentation: every stream can encode it, and it holds no control
characters. ``jsonl`` is one compact document a line.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, Protocol, TypeVar

import click

from compute.cli.output.tables import plain
from compute.cli.streams import show

Format = Literal["table", "wide", "json", "yaml", "name", "jsonl"]
T = TypeVar("T")

_SHORT: Final = "-o"
_LONG: Final = "--output"


def output_option(
    *formats: Format, default: Format = "table"
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """The option ``-o`` with these formats. The command gets it as ``output``."""
    return click.option(
        _SHORT, _LONG, "output", type=click.Choice(formats), default=default, show_default=True,
        help="How to print it.",
    )  # fmt: skip


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the arguments ask for JSON. Errors are JSON then, those of parsing too."""
    for i, argument in enumerate(arguments):
        if argument == "--":
            return False
        if argument in {_SHORT, _LONG}:
            return arguments[i + 1 : i + 2] in (["json"], ["jsonl"])
        for prefix in (f"{_LONG}=", f"{_SHORT}=", _SHORT):
            if argument.startswith(prefix) and not argument.startswith("--out=="):
                if argument.removeprefix(prefix) in {"json", "jsonl"}:
                    return True
                break
    return False


def show_data(value: object, output: str) -> None:
    """Print a view, or a sequence of views, in a format for programs."""
    import msgspec  # noqa: PLC0415 -- help and completion have no data

    data = msgspec.to_builtins(value, str_keys=True)
    match output:
        case "json":
            show(json.dumps(data, indent=2))
        case "yaml":
            show(as_yaml(data))
        case "jsonl":
            for line in data if isinstance(data, list | tuple) else [data]:
                show(json.dumps(line))
        case _:
            raise AssertionError(f"{output} is not a format for programs")


class Named(Protocol):
    """What has a name."""

    @property
    def name(self) -> str: ...


def show_views(resource: str, named: Iterable[Named], data: object, output: str) -> None:
    """Print views in a format for programs, or their names."""
    if output == "name":
        show_names(resource, (view.name for view in named))
    else:
        show_data(data, output)


def show_names(resource: str, names: Iterable[str]) -> None:
    """Print names as ``resource/name``, one a line, for other commands to read."""
    for name in names:
        show(plain(f"{resource}/{name}"))


def as_yaml(data: object) -> str:
    """The data as YAML."""
    import yaml  # noqa: PLC0415 -- costs as much time as all else that a list needs

    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=False)
    return text.rstrip("\n")
