"""Names of properties as expressions spell them, since not every name is an identifier of CEL."""

import re
from functools import lru_cache
from typing import Final

from kubekit.cel.syntax.tree import RESERVED

_PLAIN: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_PARTS: Final = re.compile(r"__|[-./]")
_ALLOWED: Final = re.compile(r"[a-zA-Z0-9_./-]+")
_ESCAPES: Final = {
    "__": "__underscores__",
    ".": "__dot__",
    "-": "__dash__",
    "/": "__slash__",
}


@lru_cache(maxsize=4096)
def escaped(name: str) -> str | None:
    """The name as an identifier; None if it has a character that cannot be spelled."""
    if name in RESERVED:
        return f"__{name}__"
    if _PLAIN.fullmatch(name) and "__" not in name:
        return name
    if not _ALLOWED.fullmatch(name) or name[0].isdigit():
        return None
    return _PARTS.sub(lambda part: _ESCAPES[part[0]], name)
