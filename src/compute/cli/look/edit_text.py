"""The text that a user edits: a Workload as YAML, without what the server writes.

Errors of the last attempt are comments at the top, which are dropped when the text is read again.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

Document = dict[str, Any]

_HELP: Final = (
    "Edit the workload below. Lines that start with '#' are ignored, and an empty file changes",
    "nothing. If the text cannot be saved, it is opened again with the reasons.",
)
_METADATA: Final = ("name", "namespace", "labels", "annotations")
_PARTS: Final = ("apiVersion", "kind", "metadata", "spec")
_FIXED: Final = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))


class UnusableText(ValueError):
    """A text that is no Workload. ``problems`` are sentences."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)


def editable(document: Mapping[str, Any]) -> Document:
    """The parts of a Workload that a user may edit."""
    known = {part: document[part] for part in _PARTS if part in document}
    metadata = document["metadata"]
    known["metadata"] = {key: metadata[key] for key in _METADATA if key in metadata}
    return known


def text_of(document: Document) -> str:
    """The document as YAML, as people write it."""
    import yaml  # noqa: PLC0415 -- costs as much time as all else

    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return text


def with_comments(text: str, problems: Sequence[str] = ()) -> str:
    """The text below the help, and below the problems of the last attempt."""
    lines = [*_HELP]
    if problems:
        lines += ["", "It was not saved:", *(f"  * {problem}" for problem in problems)]
    comments = "\n".join(f"# {line}".rstrip() for line in lines)
    return f"{comments}\n#\n{text}"


def without_comments(text: str) -> str:
    """The text without the comments at its top."""
    lines = text.splitlines(keepends=True)
    start = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "".join(lines[start:])


def read_text(text: str, base: Document) -> Document:
    """The document of an edited text. Raises `UnusableText`."""
    from kubekit.client import documents  # noqa: PLC0415 -- imports yaml

    # The text is opened again with one problem above it: lines are counted as they are then.
    above = "\n" * with_comments("", ["problem"]).count("\n")
    try:
        values = [v for v in documents.read((above + text).encode()) if v is not None]
    except documents.UnreadableDocument as error:
        raise UnusableText([str(error)]) from error
    if len(values) != 1 or not isinstance(values[0], dict):
        raise UnusableText(["there has to be exactly one document, with apiVersion and kind"])
    document: Document = values[0]
    changed = [
        f"{'.'.join(path)}: must stay {_at(base, path)}"
        for path in _FIXED
        if _at(document, path) != _at(base, path)
    ]
    if changed:
        raise UnusableText(changed)
    return document


def _at(document: object, path: Sequence[str]) -> object:
    for step in path:
        document = document.get(step) if isinstance(document, Mapping) else None
    return document
