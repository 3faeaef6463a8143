"""Programs by their names: each can be killed, and started again."""

import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.peers.children import Child, Program

# An API server with open watches takes a minute to end when asked, so it is not asked; the data of a
# store is thrown away.
_IMPOLITE = ("etcd", "kube-apiserver")


class Processes:
    """All that were started, with their logs in one folder."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self._programs: dict[str, Program] = {}
        self._children: dict[str, Child] = {}
        self._optional: set[str] = set()

    def start(self, program: Program, *, optional: bool = False) -> Child:
        """Start it. One that is ``optional`` may end by itself."""
        if program.name in self._children:
            raise ValueError(f"{program.name} runs already; kill it first")
        self._programs[program.name] = program
        if optional:
            self._optional.add(program.name)
        child = self._children[program.name] = Child(program, self.logs)
        return child

    def restart(self, name: str) -> Child:
        """Start one again that was killed."""
        if name not in self._programs:
            raise ValueError(f"there is no {name}; there are {', '.join(self._programs)}")
        return self.start(self._programs[name])

    def kill(self, name: str, how: signal.Signals = signal.SIGKILL) -> None:
        """End it, and return when it is gone."""
        self._running(name).stop(how)
        del self._children[name]

    def obey(self, verb: str, subject: Any) -> None:
        """Do what a run of tests asks for."""
        match verb:
            case "kill":
                self.kill(subject)
            case "stop":
                self.kill(subject, signal.SIGTERM)
            case "start":
                self.restart(subject)
            case "check":
                self.check_one(subject)
            case "run":
                self.start(Program(**subject), optional=True)
            case "signal":
                name, number = subject
                self.send(name, signal.Signals(number))
            case _:
                known = "check, kill, stop, start, run, signal"
                raise ValueError(f"there is no {verb}; there are {known}")

    def send(self, name: str, how: signal.Signals) -> None:
        """Send a signal, such as SIGSTOP to hold it and SIGCONT to let it go on."""
        self._running(name).send(how)

    def check_one(self, name: str) -> None:
        """The complaint of one that has ended by itself."""
        self._running(name).check()

    def check(self) -> None:
        """Nothing, or the complaint of the first that has ended by itself."""
        for name, child in self._children.items():
            if name not in self._optional:
                child.check()

    def stop(self) -> None:
        """End all, the last first."""
        for child in self._backwards():
            child.send(_how(child.name))
        for child in self._backwards():
            child.stop(_how(child.name))
        self._children.clear()

    def _running(self, name: str) -> Child:
        if name not in self._children:
            raise ValueError(f"{name} does not run; there are {', '.join(self._children)}")
        return self._children[name]

    def _backwards(self) -> Iterable[Child]:
        return reversed(self._children.values())


def _how(name: str) -> signal.Signals:
    return signal.SIGKILL if name.endswith(_IMPOLITE) else signal.SIGTERM
