"""The reference pages of the command line, from what its help is made of."""

from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc
from typing import Final

import click

from compute.cli.exits import Exit
from compute.cli.root import root
from compute.cli.shell.commands import HELP_OPTIONS, TARGET_OPTIONS
from compute.cli.shell.groups import Entry, LazyGroup

FOLDER: Final = "docs/cli"
_INDEX: Final = f"{FOLDER}/README.md"
_TARGET_ANCHOR: Final = "options-that-choose-the-server-and-the-project"


def pages(notice: str) -> Mapping[str, str]:
    """The text of each page: the index, and one page for each command."""
    commands = dict(_commands(root, "compute"))
    top = [path for path in commands if path.count(" ") == 1]
    texts = {_INDEX: _page(notice, _index(commands))}
    for path in top:
        below = {p: c for p, c in commands.items() if p == path or p.startswith(f"{path} ")}
        texts[f"{FOLDER}/{_file(path)}"] = _page(notice, _reference(below))
    return texts


def _page(notice: str, parts: Iterator[str]) -> str:
    return "\n\n".join((f"<!-- {notice} -->", *parts)) + "\n"


def _commands(group: LazyGroup | click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    """Every command that help lists, by its path."""
    context = click.Context(group, info_name=path)
    for name in group.list_commands(context):
        try:
            command = group.get_command(context, name)
        except ModuleNotFoundError as error:  # it is listed, and not written yet
            if not (error.name or "").startswith("compute.cli."):
                raise
            continue
        if command is not None and not command.hidden:
            here = f"{path} {name}"
            yield here, command
            if isinstance(command, click.Group):
                yield from _commands(command, here)


def _index(commands: Mapping[str, click.Command]) -> Iterator[str]:
    yield "# The command line"
    yield (
        "One executable serves as `compute`, `kubectl compute` and `datumctl compute`. `--help` "
        "after any command shows what its page shows."
    )
    tasks = dict.fromkeys(entry.task for entry in root.entries.values() if not entry.hidden)
    for task in tasks:
        yield f"## {task}"
        rows = [
            _row(path, command)
            for path, command in commands.items()
            if root.entries[path.split(" ")[1]].task == task
        ]
        yield _table(("Command", "Purpose"), rows)
    yield "## Options that choose the server and the project"
    yield (
        "Every command that asks a server takes them. `compute config view` shows which server is in "
        "effect, and which rule chose it."
    )
    yield _table(
        ("Option", "Meaning"),
        [
            (f"`{', '.join(filter(None, (long, short)))} {metavar}`", text)
            for long, short, metavar, text in TARGET_OPTIONS
        ],
    )
    yield "## Exit codes"
    yield "Scripts can rely on them. `compute explain exit-codes` lists them as well."
    yield _table(("Code", "Meaning"), [(str(int(code)), code.meaning) for code in Exit])


def _row(path: str, command: click.Command) -> tuple[str, str]:
    *_, name = path.split(" ")
    entry = _entry(path)
    aliases = "".join(f", `{alias}`" for alias in (entry.aliases if entry else ()))
    summary = entry.summary if entry else command.get_short_help_str(200)
    page = _file(" ".join(path.split(" ")[:2]))
    anchor = f"#{_anchor(path)}" if path.count(" ") > 1 else ""
    indent = "&nbsp;&nbsp;" * (path.count(" ") - 1)
    return f"{indent}[`{name}`]({page}{anchor}){aliases}", summary


def _entry(path: str) -> Entry | None:
    """The entry of a command in its group, which has its purpose and its aliases."""
    command: click.Command | None = root
    entry: Entry | None = None
    for word in path.split(" ")[1:]:
        if not isinstance(command, LazyGroup):
            return None
        entry = command.entries[word]
        command = command.get_command(click.Context(command), word)
    return entry


def _reference(commands: Mapping[str, click.Command]) -> Iterator[str]:
    for path, command in commands.items():
        yield f"{'#' if path.count(' ') == 1 else '##'} {path}"
        yield from _command(path, command)


def _command(path: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=path)
    yield cleandoc(command.help or "").partition("\f")[0]
    yield f"```text\n{path} {' '.join(command.collect_usage_pieces(context))}\n```"
    if isinstance(command, click.Group):
        rows = [
            (f"[`{name}`](#{_anchor(f'{path} {name}')})", summary)
            for name, summary in _below(command, context)
        ]
        yield _table(("Command", "Purpose"), rows)
    if options := list(_options(command, context)):
        yield _table(("Option", "Meaning"), options)
    if getattr(command, "has_target", False):
        yield f"It also takes the [options that choose the server](README.md#{_TARGET_ANCHOR})."
    if examples := getattr(command, "examples", ()):
        yield "```sh\n" + "\n".join(examples) + "\n```"
    exits: Sequence[Exit] = getattr(command, "exits", ())
    if exits:
        yield _table(("Exit code", "Meaning"), [(str(int(c)), c.meaning) for c in exits])


def _below(group: click.Group, context: click.Context) -> Iterator[tuple[str, str]]:
    if isinstance(group, LazyGroup):
        yield from ((name, group.entries[name].summary) for name in group.list_commands(context))
    else:
        for name, command in group.commands.items():
            yield name, command.get_short_help_str(200)


def _options(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        is_help = set(parameter.opts) & set(HELP_OPTIONS["help_option_names"])
        if record and record[1] and not is_help:
            yield f"`{record[0]}`", record[1].replace("\n", " ")


def _file(path: str) -> str:
    return f"{path.partition(' ')[2].replace(' ', '-')}.md"


def _anchor(path: str) -> str:
    return path.replace(" ", "-")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---"] * len(header)
    cells = ([cell.replace("|", r"\|") for cell in row] for row in (header, rule, *rows))
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)
