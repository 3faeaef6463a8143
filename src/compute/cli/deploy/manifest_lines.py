"""The line of a field in a manifest, for error messages. A file is parsed again for it."""

import re
from typing import Any, Final

import yaml

_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[([^\]]*)\]")
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def line_of(text: bytes, document: int, path: str) -> int:
    """The line of a field of the document with this number; of the deepest part that is there."""
    node = _document(text, document)
    if node is None:
        return 0
    line = node.start_mark.line
    for match in _STEP.finditer(path):
        found = _inside(node, match[1] or match[2])
        if found is None:
            break
        line, node = found
    return int(line) + 1


def _document(text: bytes, number: int) -> Any:  # noqa: ANN401 -- a node of PyYAML, which has no types
    nodes = yaml.compose_all(text, Loader=_LOADER)
    return next((node for i, node in enumerate(nodes, 1) if i == number), None)


def _inside(node: Any, step: str) -> tuple[int, Any] | None:  # noqa: ANN401 -- as above
    """The line of a key or an entry, and its value."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return key.start_mark.line, value
    if isinstance(node, yaml.SequenceNode) and step.isdecimal() and int(step) < len(node.value):
        entry = node.value[int(step)]
        return entry.start_mark.line, entry
    return None
