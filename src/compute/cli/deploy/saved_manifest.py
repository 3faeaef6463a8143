"""`--save`: the workload as a manifest that can be deployed again. A file is never replaced silently."""

from dataclasses import dataclass
from pathlib import Path

from compute.api.compute import Workload
from compute.cli.exits import Failure
from compute.cli.output.formats import as_yaml
from compute.cli.shell.commands import current_help
from compute.cli.shell.prompts import can_ask, confirmed, notify
from compute.decide.workload_edits.manifests import bare


@dataclass(frozen=True, slots=True)
class SavedManifest:
    """A file to write once the deploy is done, and its content."""

    path: Path
    text: str

    def write(self) -> None:
        try:
            self.path.write_text(self.text)
        except OSError as error:
            raise Failure(f"{self.path}: cannot be written: {error.strerror}") from error
        notify(f"Saved as {self.path}.")


def manifest_to_save(workload: Workload, path: str, *, yes: bool) -> SavedManifest | None:
    """The manifest; None if the file has it already, or the user keeps another one."""
    file = Path(path or f"{workload.metadata.name}.yaml")
    text = as_yaml(bare(workload)) + "\n"
    try:
        known = file.read_text() if file.exists() else None
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(
            f"{file}: cannot be read: {error}; give another file by --save=FILE",
            next_step=current_help(),
        ) from error
    if known == text:
        return None
    if known is not None and not yes and not _replaces(file):
        return None
    return SavedManifest(file, text)


def _replaces(file: Path) -> bool:
    if can_ask():
        return confirmed(f"{file} has another content. Replace it?", default=False)
    raise Failure(
        f"{file} has another content, and is not replaced without -y; give another file by "
        "--save=FILE; nothing was changed",
        next_step=current_help(),
    )
