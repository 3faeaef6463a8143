"""One run of a credential plugin: a program of the caller's, started without a shell.

It gets a session of its own, so that at the end of its time its children end with it. Only a
plugin that may talk to the person at the terminal stays in the terminal's session.
"""

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from subprocess import DEVNULL, Popen, TimeoutExpired
from typing import Final, Self

ANSWER_LIMIT: Final = 1024 * 1024  # bytes
_COMPLAINT_LIMIT: Final = 2048  # bytes; of what the plugin says last
_SHOWN: Final = 500  # characters
_CHUNK: Final = 64 * 1024
_CLOSED: Final = -1
_FIRST_PAUSE: Final = 0.001  # seconds
_LONGEST_PAUSE: Final = 0.1
_GOODBYE: Final = 1.0  # seconds for the system to end what was killed; it takes milliseconds

Process = Popen[bytes]


class PluginFailed(Exception):
    """A run without an answer. Says why."""


class NotInstalled(PluginFailed):
    """There is no such program."""


@dataclass(frozen=True, slots=True)
class Run:
    """What to run, and with what. ``terminal`` is the descriptor of one to talk to, or None."""

    program: str
    arguments: Sequence[str]
    variables: Mapping[str, str]
    limit: float
    terminal: int | None = None


def located(command: str, path: str) -> str:
    """The program to start. One that the PATH finds in the working directory is not taken."""
    if "/" in command:
        return command
    program = shutil.which(command, path=path)
    if program is None or not program.startswith("/"):
        raise NotInstalled("it is not installed, or not in the PATH")
    return program


async def output(run: Run) -> bytes:
    """What the program prints. It raises `PluginFailed`."""
    try:
        async with asyncio.timeout(run.limit):
            with _Ear() as answer, _Ear() as complaint:
                return await _heard(run, answer, complaint)
    except TimeoutError:
        raise PluginFailed(f"it took longer than {run.limit:g} seconds and was stopped") from None


def shown(words: str) -> str:
    """A program's words on one line, the last of them if they are many, safe for any terminal."""
    line = " ".join(words.split())
    line = line if len(line) <= _SHOWN else f"...{line[-_SHOWN:]}"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


class _Ear:
    """A pipe, listened to until its other end, the ``mouth``, is closed.

    Those of asyncio would not do: for it a program whose child holds one open has not ended.
    """

    def __init__(self) -> None:
        self.heard = bytearray()
        self._loop = asyncio.get_running_loop()
        self.silent: asyncio.Future[None] = self._loop.create_future()
        self._end, self.mouth = os.pipe()

    def __enter__(self) -> Self:
        self._loop.add_reader(self._end, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.remove_reader(self._end)
        os.close(self._end)
        self.close_mouth()

    def close_mouth(self) -> None:
        """Leave the mouth to those who were given it."""
        if self.mouth != _CLOSED:
            os.close(self.mouth)
            self.mouth = _CLOSED

    def _hear(self) -> None:
        """Keep the last of what is said, one byte more than is allowed."""
        said = os.read(self._end, _CHUNK)
        self.heard += said
        del self.heard[: -ANSWER_LIMIT - 1]
        if not said:
            self._loop.remove_reader(self._end)
            with contextlib.suppress(asyncio.InvalidStateError):  # nobody waits any more
                self.silent.set_result(None)


async def _heard(run: Run, answer: _Ear, complaint: _Ear) -> bytes:
    process = _start(run, answer, complaint)
    try:
        return await _answer(process, answer, complaint)
    except BaseException:
        _end(process, alone=run.terminal is None)
        raise


def _start(run: Run, answer: _Ear, complaint: _Ear) -> Process:
    """The program, running. Starting it is no matter of the loop, which could lose it half-way."""
    talks = run.terminal is not None
    try:
        return Process(
            [run.program, *run.arguments],
            stdin=run.terminal if talks else DEVNULL,
            stdout=answer.mouth,
            stderr=None if talks else complaint.mouth,  # where it asks its questions
            env=dict(run.variables),
            start_new_session=not talks,
        )
    except FileNotFoundError as error:
        raise NotInstalled("there is no such file") from error
    except OSError as error:
        raise PluginFailed(f"it cannot be started: {error.strerror}") from error
    except ValueError as error:
        raise PluginFailed(
            "it cannot be started: an argument or variable holds a NUL or '='"
        ) from error
    finally:
        answer.close_mouth()
        complaint.close_mouth()


async def _answer(process: Process, answer: _Ear, complaint: _Ear) -> bytes:
    await answer.silent
    await complaint.silent
    code = await _code(process)
    if code:
        said = shown(complaint.heard[-_COMPLAINT_LIMIT:].decode("utf-8", "replace"))
        raise PluginFailed(f"{_how(code)}: {said or 'without a word'}")
    if len(answer.heard) > ANSWER_LIMIT:
        raise PluginFailed(f"it printed more than {ANSWER_LIMIT // 1024} KiB")
    return bytes(answer.heard)


async def _code(process: Process) -> int:
    """How it ended, which is almost always as soon as it has closed its pipes."""
    pause = _FIRST_PAUSE
    while (code := process.poll()) is None:
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    return code


def _end(process: Process, *, alone: bool) -> None:
    """Leave nothing behind: not the program, and not what it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if alone:
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    with contextlib.suppress(TimeoutExpired):
        process.wait(_GOODBYE)


def _how(code: int) -> str:
    if code > 0:
        return f"it ended with code {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was ended by signal {-code}"
