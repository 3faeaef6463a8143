"""The CPU and the memory of every process of a site, from /proc."""

from collections.abc import Mapping

import msgspec

from bench.load.federation.site import Site
from bench.load.servers import cpu, resident


class Usage(msgspec.Struct, frozen=True):
    """Of one process: seconds of CPU in a phase, and bytes of memory at its end."""

    cpu: float
    memory: int


class UsageMeter:
    """What is used from here on. Processes that start later are left out."""

    def __init__(self, site: Site) -> None:
        self._processes = site.processes()
        self._start = _busy(self._processes)

    def read(self) -> dict[str, Usage]:
        """By process, the busiest first."""
        found = {
            name: Usage(round(busy - self._start[name], 2), resident(self._processes[name]))
            for name, busy in _busy(self._processes).items()
            if name in self._start
        }
        return dict(sorted(found.items(), key=lambda each: -each[1].cpu))


def _busy(processes: Mapping[str, str]) -> dict[str, float]:
    found = {}
    for name, process in processes.items():
        try:
            found[name] = cpu(process)
        except OSError:  # it has ended
            continue
    return found
