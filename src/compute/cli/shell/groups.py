"""Groups of commands that are imported only when they are called.

Flags may come before or after the name of a command, as with kubectl: the name is found first, and
everything else is passed on to the command.
"""

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from compute.cli.shell.commands import HELP_OPTIONS, takes_value
from compute.cli.shell.help_text import HelpContext

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Command = click.Command


class Entry(NamedTuple):
    """A command as its group lists it: where it is, what it is for, and below which heading."""

    module: str
    summary: str
    task: str = ""
    aliases: tuple[str, ...] = ()
    hidden: bool = False
    attribute: str = "command"


class LazyGroup(click.Group):
    """A group that lists its commands without importing them.

    ``default`` is the command that runs when none is named. With ``default_takes_words`` an unknown
    word is its argument, as in ``rollout NAME``; otherwise it is an error.
    """

    context_class = HelpContext

    def __init__(
        self,
        name: str,
        entries: Mapping[str, Entry],
        *,
        default: str = "",
        default_takes_words: bool = False,
        **settings: object,
    ) -> None:
        settings.setdefault("context_settings", dict(HELP_OPTIONS))
        super().__init__(name, **settings)  # type: ignore[arg-type]  # click's own settings
        self.entries = dict(entries)
        self._by_alias = {a: n for n, entry in self.entries.items() for a in entry.aliases}
        self._default = default
        self._default_takes_words = default_takes_words

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, entry in self.entries.items() if not entry.hidden]

    def get_command(self, ctx: click.Context, cmd_name: str) -> Command | None:
        entry = self.entries.get(self._by_alias.get(cmd_name, cmd_name))
        if entry is None:
            return None
        command: Command = getattr(importlib.import_module(entry.module), entry.attribute)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the name of the command and put it first, so that flags may come before it."""
        position = _first_word(args)
        word = None if position is None else args[position]
        if position is not None and word is not None and self._knows(word):
            args = [word, *args[:position], *args[position + 1 :]]
        elif not args and ctx.resilient_parsing:  # the name itself is being completed
            pass
        elif self._runs_default(args, position) and not self._is_misspelt(args, position):
            args = [self._default, *args]
        elif word is not None:
            raise self.unknown(ctx, word)
        return super().parse_args(ctx, args)

    def _runs_default(self, args: Sequence[str], position: int | None) -> bool:
        """Whether the arguments are those of the default command.

        After an option that is not known here, the word may be its value.
        """
        if not self._default or (args and args[0] in HELP_OPTIONS["help_option_names"]):
            return False
        return position != 0 or self._default_takes_words

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete the name of a command, or a word of the default command."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 -- only for completion

        names = [
            CompletionItem(name, help=self.entries[name].summary)
            for name in self.list_commands(ctx)
            if name.startswith(incomplete)
        ]
        own = super(click.Group, self).shell_complete(ctx, incomplete)
        return [*names, *own, *self._words_of_default(ctx, incomplete)]

    def _words_of_default(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """A flag of the default command, or its argument if it takes words."""
        is_flag = incomplete.startswith("-")
        if not self._default or not (is_flag or self._default_takes_words):
            return []
        command = self.get_command(ctx, self._default)
        if command is None:
            return []
        context = command.make_context(self._default, [], parent=ctx, resilient_parsing=True)
        if is_flag:
            return [i for i in command.shell_complete(context, incomplete) if i.value != "--help"]
        arguments = [p for p in command.params if isinstance(p, click.Argument)]
        return arguments[0].shell_complete(context, incomplete) if arguments else []

    def _is_misspelt(self, args: Sequence[str], position: int | None) -> bool:
        """Whether a word is probably a command, as in ``rollout statsu web``: an argument follows."""
        if position is None or nearest(args[position], self._all_names()) is None:
            return False
        return _first_word(args[position + 1 :]) is not None

    def _all_names(self) -> list[str]:
        return [*self.entries, *self._by_alias]

    def unknown(self, ctx: click.Context, word: str) -> click.UsageError:
        """The error for an unknown command, with the nearest known one."""
        near = nearest(word, self._all_names())
        hint = f"; did you mean {near!r}?" if near else ""
        return click.UsageError(f"there is no command {word!r} of {ctx.command_path}{hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for task, rows in self._by_task():
            with formatter.section(task or "Commands"):
                formatter.write_dl(rows)

    def _by_task(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        shown = {name: self.entries[name] for name in self.entries if not self.entries[name].hidden}
        for task in dict.fromkeys(entry.task for entry in shown.values()):
            yield task, [(n, entry.summary) for n, entry in shown.items() if entry.task == task]

    def _knows(self, word: str) -> bool:
        return word in self.entries or word in self._by_alias


def _first_word(arguments: Sequence[str]) -> int | None:
    """The position of the first argument that is neither an option nor the value of one."""
    skip = False
    for i, argument in enumerate(arguments):
        if skip:
            skip = False
        elif argument == "--":
            return None
        elif argument.startswith("-") and argument != "-":
            skip = takes_value(argument)
        else:
            return i
    return None


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant."""
    near: Final = get_close_matches(word, list(known), 1, 0.6)
    return near[0] if near else None
