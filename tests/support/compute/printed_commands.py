"""Every command that a text of the project prints or shows, and whether the parser takes it."""

import ast
import contextlib
import io
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from compute.api.neighbour_reasons import NeighbourReason
from compute.api.reasons import Reason
from compute.cli.root import root

ROOT: Final = Path(__file__).parents[3]

# Words in capitals stand for a value.
_PLACEHOLDERS: Final = {
    "CELL": "dfw", "CITY": "DFW", "CODE": "DFW", "CODES": "DFW,LHR", "CONDITION": "Ready",
    "CONFIGMAP": "settings", "DIR": "/tmp/folder", "DURATION": "5m", "FILE": "web.yaml",
    "IMAGE": "registry.example.test/web:1", "INSTANCE": "web-home-dfw-0", "KEY": "project",
    "KEY=VALUE": "KEY=VALUE", "N": "2", "NAME": "web", "NETWORK": "default", "PROJECT": "demo",
    "REASON": "QuotaExceeded", "REVISION": "2", "SECRET": "password", "SERIAL": "1f3a",
    "SHELL": "bash", "TYPE": "datumcloud/d1-standard-2", "VALUE": "demo", "WORKLOAD": "web",
}  # fmt: skip
# What a value of an f-string may be; one of them has to fit.
_VALUES: Final = ("web", "2", "5m", "DFW", "json", "KEY=VALUE")
_GAP: Final = "\x00"
_IN_BACKTICKS: Final = re.compile(
    r"(?<!`)`(?:\.venv/bin/|kubectl |datumctl )?(compute(?: [^`]+)?)`(?!`)"
)
_FENCE: Final = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_LINE: Final = re.compile(r"^\s*(?:\$ )?(?:\S*/bin/|kubectl |datumctl )?(compute(?: .*)?)$")
_SHELLS: Final = {"sh", "console", "bash", "shell", ""}
_OF_PROGRAMS: Final = {"__complete", "--plugin-manifest"}
_OPERATORS: Final = {"|", "||", "&&", ";", "&", ">", ">>", "<", "2>&1", "#"}


@dataclass(frozen=True, slots=True)
class Printed:
    """A command in a text. A mention may lack arguments: it only names the command."""

    where: str
    text: str
    mention: bool = False


def of_reasons() -> Iterator[Printed]:
    """The commands in the next steps of all reasons."""
    for reason in (*Reason, *NeighbourReason):
        for text in _IN_BACKTICKS.findall(reason.next_step):
            yield Printed(f"next step of {reason}", text)


def of_source(file: Path) -> Iterator[Printed]:
    """The commands in the strings of a module: next steps of failures, and text in backticks."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    inside = _parts_of_texts(tree)
    for node in ast.walk(tree):
        where = f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.keyword) and node.arg == "next_step":
            texts = [_text(part) for part in ast.walk(node.value) if id(part) not in inside]
            yield from (Printed(where, text) for text in texts if text.startswith("compute "))
        elif isinstance(node, ast.Call) and _is_command_of_folder(node):
            yield Printed(where, f"compute {_text(node.args[0])}")
        elif id(node) not in inside:
            for text in _IN_BACKTICKS.findall(_text(node)):
                yield Printed(where, " ".join(text.split()), mention=True)


def of_cures(file: Path) -> Iterator[Printed]:
    """The strings of a module that are a command as a whole, as the cures of checks are."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    inside = _parts_of_texts(tree)
    for node in ast.walk(tree):
        if id(node) not in inside and _text(node).startswith("compute "):
            where = f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
            yield Printed(where, _text(node))


def _parts_of_texts(tree: ast.AST) -> set[int]:
    """The nodes inside of f-strings, which are read as a whole."""
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    return {id(part) for text in texts for part in ast.walk(text) if part is not text}


def _is_command_of_folder(call: ast.Call) -> bool:
    function = call.func
    return (
        isinstance(function, ast.Attribute) and function.attr == "command" and len(call.args) == 1
    )


def _text(node: ast.AST) -> str:
    """The text of a string; its values are gaps."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) or _GAP for part in parts)
        case _:
            return ""


def of_page(file: Path) -> Iterator[Printed]:
    """The commands of a page: whole lines in its code, and code within its sentences."""
    text, where = file.read_text(encoding="utf-8"), str(file.relative_to(ROOT))
    for language, block in _FENCE.findall(text):
        if language in _SHELLS:
            for line in block.replace("\\\n", " ").splitlines():
                if found := _LINE.match(line):
                    yield Printed(where, found[1], mention=" " not in found[1])
    for inline in _IN_BACKTICKS.findall(_FENCE.sub("", text)):
        yield Printed(where, " ".join(inline.split()), mention=True)


def of_examples(command: click.Command, path: str) -> Iterator[Printed]:
    """The examples in the help of a command."""
    for example in getattr(command, "examples", ()):
        found = re.search(r"\bcompute .*", example)
        yield Printed(f"examples of {path}", found[0].rstrip(")") if found else example)


def all_commands(
    command: click.Command = root, path: str = "compute"
) -> Iterator[tuple[str, click.Command]]:
    """Every command with its path, hidden ones included."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path)
        entries = getattr(command, "entries", command.commands)
        for name in entries:
            try:
                found = command.get_command(context, name)
            except ImportError as error:
                raise AssertionError(f"{path} {name} is listed, but not written") from error
            assert found is not None
            yield from all_commands(found, f"{path} {name}")


def problem(printed: Printed) -> str:
    """What the parser refuses; empty if it takes the command."""
    if _is_unknown(printed.text):
        return ""
    problems = [_refusal(words) for words in _possible(printed.text)]
    if "" in problems or (printed.mention and _is_mention(printed.text)):
        return ""
    return f"{printed.where}: `{printed.text.replace(_GAP, '{}')}`: {problems[0]}"


def _is_unknown(text: str) -> bool:
    """Whether the name of the command is a value or a pattern, or a request of another program."""
    name = text.partition(" ")[2].partition(" ")[0]
    return bool(set(name) & {_GAP, "(", "["}) or name in _OF_PROGRAMS or text == "compute "


def _possible(text: str) -> Iterator[list[str]]:
    values: Sequence[str] = _VALUES if _GAP in text else ("",)
    for value in values:
        yield [_filled(word) for word in _words(text.replace(_GAP, value))]


def _words(text: str) -> list[str]:
    """The words of one command: without brackets, comments, and what a shell does with its output."""
    line = re.sub(r"\[([^\]\s]*)\.*\]|\.\.\.", r"\1", text)
    words = shlex.split(line, comments=True)[1:]
    end = next((i for i, word in enumerate(words) if word in _OPERATORS), len(words))
    return [word.rstrip(";") for word in words[:end]]


def _filled(word: str) -> str:
    """The word with a value for a placeholder, and the first of several alternatives."""
    if word in _PLACEHOLDERS:
        return _PLACEHOLDERS[word]
    flag, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    if flag and not equals:
        return word
    first = value.split("|")[0]
    return f"{flag}{equals}{_PLACEHOLDERS.get(first, first)}"


def _is_mention(text: str) -> bool:
    """Whether the words only name a command, and perhaps flags of it, as a sentence does."""
    words = _words(text)
    command: click.Command = root
    for i, word in enumerate(words):
        if not isinstance(command, click.Group) or word.startswith("-"):
            flags = {flag for parameter in command.params for flag in parameter.opts}
            return flags >= set(words[i:])
        try:
            found = command.get_command(click.Context(command), word)
        except ImportError:
            return False
        if found is None:
            return False
        command = found
    return True


def _refusal(words: Sequence[str]) -> str:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            _parse(list(words))
    except click.exceptions.Exit:  # --help and --version
        return ""
    except click.exceptions.NoArgsIsHelpError:
        return "it needs a command"
    except click.ClickException as error:
        return error.format_message()
    except ImportError as error:
        return f"not written: {error}"
    return ""


def _parse(arguments: list[str]) -> None:
    """Parse the words as a call does, and run nothing."""
    command: click.Command = root
    context: click.Context | None = None
    while True:
        name = command.name or ""
        context = command.make_context(name, arguments, parent=context)
        if not isinstance(command, click.Group):
            return
        arguments = [*context._protected_args, *context.args]
        if not arguments:
            return
        _, found, arguments = command.resolve_command(context, arguments)
        assert found is not None
        command = found


def problems(printed: Iterable[Printed]) -> str:
    """What the parser refuses of these commands, a line for each."""
    return "\n".join(filter(None, map(problem, printed)))
