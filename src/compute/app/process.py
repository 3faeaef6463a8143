"""What a server does for its own safety before it opens anything."""

import codecs
import ctypes
import os
import pwd
import resource
from pathlib import Path
from typing import Final

from kubekit.plane import PlaneDirectory

_NOT_DUMPABLE: Final = (4, 0, 0, 0, 0)  # PR_SET_DUMPABLE, no
_OTHERS: Final = 0o077
_FILES: Final = 65_536  # open at once: connections, and what else there is
_OWNER_ONLY: Final = 0o700


class Unsafe(Exception):
    """The process cannot be made as safe as was asked. Says what to do."""


def harden() -> None:
    """Make every file for its owner alone, leave no memory behind, and have room for connections.

    A dump of the memory would hold every secret: neither a crash nor another process of the same
    user may make one. What a shell may open at once is too little: idle peers would use it up.
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
    """Go on as another user, for good. A folder that is not there yet is made for him."""
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
    # Modules that are imported later may be where only root can read: this one, listening needs.
    codecs.lookup("idna")
    os.initgroups(name, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)


def keep_private(data: Path) -> str:
    """See that nobody else can look into the folder; what was done about it, in words.

    A folder of ours, or an empty one, is mended. One that holds other things is not ours to close.
    """
    try:
        found = data.stat()
    except FileNotFoundError:
        return ""  # it is made as it should be
    if found.st_uid != os.geteuid():
        raise Unsafe(
            f"{data} belongs to another user, who could have put anything into it; it is not yours: "
            "start it as that user, by --user NAME say, or name another folder"
        )
    if not found.st_mode & _OTHERS:
        return ""
    if not PlaneDirectory(data).exists() and any(data.iterdir()):
        raise Unsafe(
            f"{data} can be looked into by other users and holds other things: "
            f"name a folder of its own, {data / 'plane'} say, or close this one to others"
        )
    data.chmod(_OWNER_ONLY)
    return f"{data} was open to other users; now it is for its owner alone."
