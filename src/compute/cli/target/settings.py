"""The user's own choice of a target, which `compute config` writes.

It is one JSON file in the user's configuration folder. The context ``local`` stands for the world that
runs on this machine.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from compute.cli.exits import Failure

LOCAL: Final = "local"
KEYS: Final = ("context", "project", "namespace")


class UserSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the user chose. An empty value means that nothing is chosen."""

    context: str = ""
    project: str = ""
    namespace: str = ""


def settings_file(variables: Mapping[str, str] = os.environ) -> Path:
    named = variables.get("COMPUTE_CONFIG")
    if named:
        return Path(named)
    home = variables.get("HOME")
    folder = variables.get("XDG_CONFIG_HOME") or (Path(home) if home else Path.home()) / ".config"
    return Path(folder) / "compute" / "config.json"


def read(variables: Mapping[str, str] = os.environ) -> UserSettings:
    """The settings; empty ones where there is no file. A damaged file is an error that names it."""
    file = settings_file(variables)
    try:
        return msgspec.json.decode(file.read_bytes(), type=UserSettings)
    except FileNotFoundError:
        return UserSettings()
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise Failure(
            f"{file}: not valid settings: {error}. Correct it, or delete it to start again"
        ) from error


def write(settings: UserSettings, variables: Mapping[str, str] = os.environ) -> Path:
    """Write the settings, whole or not at all."""
    file = settings_file(variables)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = file.with_name(f".{file.name}.{os.getpid()}")
        partial.write_bytes(msgspec.json.format(msgspec.json.encode(settings), indent=2) + b"\n")
        partial.replace(file)
    except OSError as error:
        raise Failure(f"{file}: cannot be written: {error.strerror}") from error
    return file
