"""The CustomResourceDefinitions of our kinds and of the neighbouring kinds, as planes serve them.

``tools/generate.py`` writes them to ``crds.json``, with the descriptions from the docstrings.
"""

from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from kubekit.api.structural.nodes import Document

Family = Literal["compute", "neighbours", "karmada"]
FAMILIES: Final[tuple[Family, ...]] = ("compute", "neighbours", "karmada")

_FILE: Final = Path(__file__).with_name("crds.json")


def definitions(*families: Family) -> tuple[Document, ...]:
    """The definitions of some families of kinds, or of all. Treat them as read-only."""
    content = _content()
    return tuple(document for family in families or FAMILIES for document in content[family])


@cache
def _content() -> dict[str, Any]:
    content: dict[str, Any] = msgspec.json.decode(_FILE.read_bytes())
    return content
