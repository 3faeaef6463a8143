"""What is wrong with manifests, as one failure: each error with its file, its line and its field."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from compute.api.compute import Workload
from compute.cli.change.planned_changes import joined
from compute.cli.deploy.manifests import STDIN, Manifest
from compute.cli.exits import Failure, listed_errors
from compute.decide.workload_edits.document_errors import sentence
from kubekit.api.fields import FieldError
from kubekit.api.meta import Object

_INDEX: Final = re.compile(r"\[[^\]]*\]")
# Commands that list what may be written in a field.
_LISTS: Final = (("cityCodes", "compute cities"), ("instanceType", "compute instance-types"))


@dataclass(frozen=True, slots=True)
class ManifestError:
    """An error in a document of a kind."""

    manifest: Manifest
    kind: type[Object]
    error: FieldError

    @property
    def location(self) -> str:
        """The file and the line."""
        return self.manifest.location(self.error.path)

    @property
    def text(self) -> str:
        return f"{self.location}: {sentence(self.error)}"


def failure_of_manifests(errors: Sequence[ManifestError]) -> Failure:
    """The failure. Several errors are a list; those of one file do not repeat its name."""
    texts = [error.text for error in errors]
    sources = {error.manifest.source for error in errors}
    title = ""
    if len(sources) == 1:
        (source,) = sources
        title = f"{source}: "
        texts = [text.removeprefix(source).lstrip(":, ") for text in texts]
    return Failure(
        f"{joined([error.text for error in errors])}; nothing was changed",
        next_step=_next_step(errors),
        lines=listed_errors(texts, title, "; nothing was changed"),
    )


def _next_step(errors: Sequence[ManifestError]) -> str:
    """The plan of a file with several errors, which needs no server; else what the field means."""
    first = errors[0]
    if len(errors) > 1 and first.kind is Workload and first.manifest.source != STDIN:
        return f"compute plan -f {shlex.quote(first.manifest.source)}"
    for field, command in _LISTS:
        if field in first.error.path:
            return command
    return explained_field(first.kind.RESOURCE.kind, first.error.path)


def explained_field(kind: str, path: str) -> str:
    """The command that explains a field of a kind, or the deepest part of its path that is known."""
    from compute.cli.understand.explained_words import field  # noqa: PLC0415 -- only for an error

    known = f"{kind.casefold()}.{_INDEX.sub('', path)}"
    try:
        field(known)
    except Failure as failure:
        return failure.next_step
    return f"compute explain {known}"
