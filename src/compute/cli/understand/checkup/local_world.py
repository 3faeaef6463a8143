"""The facts of a platform on this machine: its process, files, log and cells."""

import os
import re
import shlex
import shutil
import socket
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from compute.api import labels
from compute.api.conditions import ConditionType
from compute.api.karmada import MemberCluster
from compute.app.data_folder import default_data, written_state
from compute.app.links import is_cut
from compute.app.world_folder import WorldFolder
from compute.app.world_status import client
from compute.decide.conditions import find
from compute.decide.doctor.facts import CellFacts, Unread, WorldFacts
from kubekit.api.errors import ApiError, Unavailable
from kubekit.client.connection import Misconfigured

_PROCESSES: Final = Path("/proc")
_CONNECT: Final = 2.0  # seconds; it is on this machine
_LOG_BYTES: Final = 256 * 1024  # of the end of the log
_START_OF_LOG: Final = "Opening "
_ERROR: Final = re.compile(r"\blevel=(?:error|critical)\b")
_MESSAGE: Final = re.compile(r'\b(?:msg|error)=("(?:[^"\\]|\\.)*"|\S+)')


async def read_world(folder: WorldFolder) -> WorldFacts:
    """What is known of the platform whose data is in a folder."""
    pid, written = _pid(folder), written_state(folder.data)
    url = written.url if written else ""
    started = written is not None and written.pid == pid
    return WorldFacts(
        data=str(folder.data),
        pid=pid,
        started=bool(pid) and started,
        left_state=written is not None and not pid,
        url=url,
        answers=_accepts(url),
        free_bytes=shutil.disk_usage(folder.data).free,
        log=str(folder.log),
        errors=errors_of(_end_of(folder.log)),
        others=_others(folder, pid),
        cells=await _cells(folder) if pid else (),
        options=options_for(folder.data),
    )


def folder_of(data: Path) -> WorldFolder:
    return WorldFolder(data.resolve())


def options_for(data: Path) -> str:
    """What a command needs to name the folder: nothing for the default one."""
    is_default = data.resolve() == default_data().resolve()
    return "" if is_default else f" --data {shlex.quote(str(data))}"


def errors_of(log: str) -> tuple[str, ...]:
    """The errors since the last start in a log, as the messages in them."""
    _, start, rest = f"\n{log}".rpartition(f"\n{_START_OF_LOG}")
    lines = (rest if start else log).splitlines()
    return tuple(_shortened(line) for line in lines if _ERROR.search(line))


def _shortened(line: str) -> str:
    texts = [text.strip('"') for text in _MESSAGE.findall(line)]
    return ": ".join(texts) or line


def _pid(folder: WorldFolder) -> int:
    try:
        return folder.pid()
    except OSError:
        return 0


def _accepts(url: str) -> bool:
    address = urlsplit(url)
    if not address.hostname or not address.port:
        return False
    try:
        with socket.create_connection((address.hostname, address.port), _CONNECT):
            return True
    except OSError:
        return False


def _end_of(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_BYTES))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def _others(folder: WorldFolder, pid: int) -> tuple[int, ...]:
    """Further processes that were started for the folder, where the system lists processes."""
    named = f"--data={folder.data}"
    found = []
    for directory in _PROCESSES.glob("[0-9]*"):
        try:
            words = (directory / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it has ended, or belongs to another user
        if named in words and "up" in words and int(directory.name) not in {pid, os.getpid()}:
            found.append(int(directory.name))
    return tuple(sorted(found))


async def _cells(folder: WorldFolder) -> tuple[CellFacts, ...] | Unread:
    try:
        async with client(folder, "hub") as hub:
            clusters = (await hub.every(MemberCluster)).items
    except ApiError as error:
        return Unread(error)
    except (Misconfigured, OSError) as error:
        return Unread(Unavailable(str(error)))
    return tuple(map(_cell, clusters))


def _cell(cluster: MemberCluster) -> CellFacts:
    ready = find(cluster.status.conditions, ConditionType.READY)
    return CellFacts(
        name=cluster.metadata.name,
        city=cluster.metadata.labels.get(labels.TOPOLOGY_CITY_CODE, ""),
        ready=ready is not None and ready.status == "True",
        cut=is_cut(cluster),
        message=(ready.message or ready.reason) if ready else "",
    )
