"""Settings of the process that serves: its privileges, its files, and its interpreter.

A plane stores bytes, and nearly all allocations of a request are freed when it is answered. So the
garbage collector finds almost nothing, but each full collection visits every object. With the default
thresholds that costs half of the throughput.

The thread that writes to disk needs the interpreter only briefly, between long waits. With Python's
default switch interval it would wait for the busy event loop each time.
"""

import codecs
import ctypes
import gc
import os
import pwd
import resource
import sys
from pathlib import Path
from typing import Final

from kubekit.plane import PlaneDirectory

_NOT_DUMPABLE: Final = (4, 0, 0, 0, 0)  # PR_SET_DUMPABLE, no
_OTHERS: Final = 0o077
_FILES: Final = 65_536  # open files at once, most of them connections
_OWNER_ONLY: Final = 0o700

# Allocations until the young generation is collected. Every request waits for that: 10,000 objects
# take up to 13 ms, and 50,000 took up to 49 ms.
_YOUNG: Final = 10_000
_MIDDLE: Final = 100
_OLD: Final = 100

# Seconds until a busy thread yields to another one. While a world of 2,000 Instances starts, a status
# is copied to the hub in 74 instead of 88 ms and shown in the project in 71 instead of 126 ms (p50),
# compared with Python's own 5 ms, for the same CPU.
_SWITCH_INTERVAL: Final = 0.0005

_M_MMAP_THRESHOLD: Final = -3
_MAPPED: Final = 256 * 1024


class Unsafe(Exception):
    """The process cannot be protected as requested. The message says what to do."""


def harden() -> None:
    """Make new files private, disable memory dumps, and raise the limit of open files.

    A dump of the memory would hold every secret: neither a crash nor another process of the same
    user may make one. The limit of a shell is too low: idle peers would exhaust it.
    """
    os.umask(_OTHERS)
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if most == resource.RLIM_INFINITY else min(_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(files, wanted), most))
    if hasattr(libc := ctypes.CDLL(None), "prctl"):
        libc.prctl(*_NOT_DUMPABLE)


def is_root() -> bool:
    return os.geteuid() == 0


def become(name: str, data: Path) -> None:
    """Continue as another user, permanently. A missing folder is created for that user."""
    try:
        user = pwd.getpwnam(name)
    except KeyError:
        raise Unsafe(f"--user {name}: there is no such user") from None
    if os.geteuid() == user.pw_uid and not is_root():
        return
    if not is_root():
        raise Unsafe(f"--user {name}: only root may become another user; start it as {name}")
    if not data.exists():
        data.mkdir(mode=_OWNER_ONLY)
        os.chown(data, user.pw_uid, user.pw_gid, follow_symlinks=False)
    # A module that is imported later may be readable by root only. Listening needs this one.
    codecs.lookup("idna")
    os.initgroups(name, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)


def keep_private(data: Path) -> str:
    """Make the folder readable by its owner only. Returns a message if that changed anything.

    Only a folder of a plane, or an empty one, is changed. Other folders are refused.
    """
    try:
        status = data.stat()
    except FileNotFoundError:
        return ""  # the store creates it with the right mode
    if status.st_uid != os.geteuid():
        raise Unsafe(
            f"{data} is not yours: it belongs to another user, who may have put anything into it. "
            "Start the server as that user, for example with --user NAME, or name another folder"
        )
    if not status.st_mode & _OTHERS:
        return ""
    if not PlaneDirectory(data).exists() and any(data.iterdir()):
        raise Unsafe(
            f"{data} is readable by other users and holds other files: name a folder of its own, "
            f"such as {data / 'plane'}, or make this one private"
        )
    data.chmod(_OWNER_ONLY)
    return f"{data} was readable by other users; it is private now."


def tune_interpreter() -> None:
    """Exclude all present objects from garbage collection, and collect rarely.

    Call it once everything is loaded.
    """
    # uvloop has a buffer of 256 KiB for each TLS connection, most of it never touched. The C library
    # must map those: in its heap they share pages with others, which costs 15 KiB more for each.
    if hasattr(libc := ctypes.CDLL(None), "mallopt"):
        libc.mallopt(_M_MMAP_THRESHOLD, _MAPPED)
    sys.setswitchinterval(_SWITCH_INTERVAL)
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
