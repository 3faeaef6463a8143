"""`--save`: the workload as a manifest that can be deployed again. A file is never replaced silently."""

import os
from dataclasses import dataclass
from pathlib import Path

from compute.api.compute import Workload
from compute.cli.exits import Failure
from compute.cli.output.formats import as_yaml
from compute.cli.output.tables import plain
from compute.cli.shell.commands import current_help
from compute.cli.shell.prompts import can_ask, confirmed, notify
from compute.decide.workload_edits.manifests import bare


@dataclass(frozen=True, slots=True)
class SavedManifest:
    """A file to write once the deploy is done, and its content."""

    path: Path
    content: bytes

    def write(self) -> None:
        try:
            self.path.write_bytes(self.content)
        except OSError as error:
            raise Failure(f"{self.path}: cannot be written: {error.strerror}") from error
        notify(plain(f"Saved as {self.path}."))


def manifest_to_save(workload: Workload, path: str, *, yes: bool) -> SavedManifest | None:
    """The manifest; None if the file has it already, or the user keeps another one."""
    file = Path(path or f"{workload.metadata.name}.yaml")
    content = f"{as_yaml(bare(workload))}\n".encode()
    try:
        known = file.read_bytes() if file.exists() else None
    except OSError as error:
        raise _unusable(file, f"cannot be read: {error.strerror}") from error
    if known is None and not os.access(file.parent, os.W_OK):
        raise _unusable(file, "cannot be written: there is no such folder, or no permission")
    if known == content:
        return None
    if known is not None and not yes and not _replaces(file):
        return None
    return SavedManifest(file, content)


def _replaces(file: Path) -> bool:
    if can_ask():
        return confirmed(f"{file} has another content. Replace it?", default=False)
    raise _unusable(file, "has another content, and is not replaced without -y")


def _unusable(file: Path, why: str) -> Failure:
    """The failure before anything is written, so that a deploy does not end with it."""
    return Failure(
        f"--save: {file} {why}; give another file by --save=FILE; nothing was changed",
        next_step=current_help(),
    )
