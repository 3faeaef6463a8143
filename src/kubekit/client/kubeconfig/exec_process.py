"""One run of a credential plugin: a program that is started without a shell.

It gets a session of its own, so that its children are killed with it. Only an interactive plugin stays
in the session of the terminal.
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
_STDERR_LIMIT: Final = 2048  # bytes; the last ones of its error output
_SHOWN: Final = 500  # characters
_CHUNK: Final = 64 * 1024
_CLOSED: Final = -1
_FIRST_PAUSE: Final = 0.001  # seconds
_LONGEST_PAUSE: Final = 0.1
_KILL_SECONDS: Final = 1.0  # for the system to end a killed process; it takes milliseconds

Process = Popen[bytes]


class PluginFailed(Exception):
    """A run without output. The message says why."""


class NotInstalled(PluginFailed):
    """There is no such program."""


@dataclass(frozen=True, slots=True)
class Run:
    """The program and its environment. ``terminal`` is the descriptor of an interactive input, or None."""

    program: str
    arguments: Sequence[str]
    variables: Mapping[str, str]
    limit: float
    terminal: int | None = None


def located(command: str, path: str) -> str:
    """The program to start. A PATH entry relative to the working directory is refused."""
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
            with _OutputPipe() as stdout, _OutputPipe() as stderr:
                return await _run(run, stdout, stderr)
    except TimeoutError:
        raise PluginFailed(f"it took longer than {run.limit:g} seconds and was stopped") from None


def shown(text: str) -> str:
    """The output of a program on one line, shortened to its end, safe for any terminal."""
    line = " ".join(text.split())
    line = line if len(line) <= _SHOWN else f"...{line[-_SHOWN:]}"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


class _OutputPipe:
    """A pipe that is read until its ``write_end`` is closed.

    The pipes of asyncio do not work here: for them a process has not ended while a child holds one.
    """

    def __init__(self) -> None:
        self.data = bytearray()
        self._loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[None] = self._loop.create_future()
        self._read_end, self.write_end = os.pipe()

    def __enter__(self) -> Self:
        self._loop.add_reader(self._read_end, self._read)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.remove_reader(self._read_end)
        os.close(self._read_end)
        self.close_write_end()

    def close_write_end(self) -> None:
        """Close the write end of this process; the program keeps its own."""
        if self.write_end != _CLOSED:
            os.close(self.write_end)
            self.write_end = _CLOSED

    def _read(self) -> None:
        """Keep the last bytes, one more than is allowed."""
        chunk = os.read(self._read_end, _CHUNK)
        self.data += chunk
        del self.data[: -ANSWER_LIMIT - 1]
        if not chunk:
            self._loop.remove_reader(self._read_end)
            with contextlib.suppress(asyncio.InvalidStateError):  # there is no waiter any more
                self.closed.set_result(None)


async def _run(run: Run, stdout: _OutputPipe, stderr: _OutputPipe) -> bytes:
    process = _start(run, stdout, stderr)
    try:
        return await _result(process, stdout, stderr)
    except BaseException:
        _end(process, alone=run.terminal is None)
        raise


def _start(run: Run, stdout: _OutputPipe, stderr: _OutputPipe) -> Process:
    """The started program. asyncio is not used, because a cancellation could lose the process."""
    interactive = run.terminal is not None
    try:
        return Process(
            [run.program, *run.arguments],
            stdin=run.terminal if interactive else DEVNULL,
            stdout=stdout.write_end,
            # An interactive program prompts on the standard error.
            stderr=None if interactive else stderr.write_end,
            env=dict(run.variables),
            start_new_session=not interactive,
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
        stdout.close_write_end()
        stderr.close_write_end()


async def _result(process: Process, stdout: _OutputPipe, stderr: _OutputPipe) -> bytes:
    await stdout.closed
    await stderr.closed
    code = await _code(process)
    if code:
        message = shown(stderr.data[-_STDERR_LIMIT:].decode("utf-8", "replace"))
        raise PluginFailed(f"{_described_exit(code)}: {message or 'without a message'}")
    if len(stdout.data) > ANSWER_LIMIT:
        raise PluginFailed(f"it printed more than {ANSWER_LIMIT // 1024} KiB")
    return bytes(stdout.data)


async def _code(process: Process) -> int:
    """The exit code, which is usually there as soon as the pipes are closed."""
    pause = _FIRST_PAUSE
    while (code := process.poll()) is None:
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    return code


def _end(process: Process, *, alone: bool) -> None:
    """Kill the program and its children."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if alone:
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    with contextlib.suppress(TimeoutExpired):
        process.wait(_KILL_SECONDS)


def _described_exit(code: int) -> str:
    if code > 0:
        return f"it ended with code {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was ended by signal {-code}"
