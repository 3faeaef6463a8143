"""Patterns of schemas, matched by RE2: in time proportional to the text, for any pattern.

Kubernetes has the same semantics: Go's engine is a port of RE2.
"""

import re
from functools import lru_cache
from time import thread_time
from typing import Any, Final

import re2  # type: ignore[import-untyped]  # it has no stubs

from kubekit.plane.registry.schema import validation_budget

_MOST_MEMORY: Final = 2 << 20  # bytes of one pattern, including its memory for matching
_CACHED: Final = 4096
_LONGEST_CACHED: Final = 64  # characters
_COMPILED: Final = 4096
_MOST_STEPS: Final = 10_000  # of one pattern
_MOST_WORK: Final = 100_000_000  # steps times characters: two seconds in the worst case
_REFUSED: Final = 20_000  # steps; a refused pattern takes about as long to compile

# RE2 supports one escape that Kubernetes does not, for text that is not UTF-8.
_ANY_BYTE: Final = re.compile(r"(?:[^\\]|\\[^C])*\\C", re.DOTALL)
_ANY_BYTE_ERROR: Final = b"invalid escape sequence: \\C"

# The messages of RE2, and those of Kubernetes.
_GO_MESSAGES: Final = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "pattern too large": "expression too large",
}


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text; an invalid pattern never is.

    A pattern with very many steps is not found in a very long text: both together would take long.
    """
    if len(text) <= _LONGEST_CACHED:
        return _matches_again(pattern, text)
    return _matches(pattern, text)


def fault_of(pattern: str) -> str | None:
    """The error in the pattern; None if it is valid."""
    _, error = _compiled(pattern)
    return _go_message(error) if error else None


def steps_of(pattern: str) -> int:
    """The size of the compiled pattern; compiling takes about half a microsecond per step."""
    compiled, _ = _compiled(pattern)
    return _REFUSED if compiled is None else int(compiled.programsize)


def _matches(pattern: str, text: str) -> bool:
    compiled, _ = _compiled(pattern)
    if compiled is None or compiled.programsize * len(text) > _MOST_WORK:
        return False
    # Some patterns take a thousand times as long as others of their size, so the time is measured.
    before = thread_time()
    match = compiled.search(text.encode(errors="surrogatepass"))
    validation_budget.spend((thread_time() - before) * 1_000_000)
    return match is not None


_matches_again: Final = lru_cache(_CACHED)(_matches)
"""A cache for short strings: the same few occur in every object."""


@lru_cache(_COMPILED)
def _compiled(pattern: str) -> tuple[Any, bytes]:
    """The compiled pattern, or None and the error."""
    options = re2.Options()
    options.max_mem = _MOST_MEMORY
    options.log_errors = False
    if _ANY_BYTE.match(pattern):
        return None, _ANY_BYTE_ERROR
    try:
        compiled = re2.compile(pattern.encode(errors="surrogatepass"), options)
    except re2.error as error:
        return None, error.args[0]
    return (compiled, b"") if compiled.programsize <= _MOST_STEPS else (None, b"pattern too large")


def _go_message(error: bytes) -> str:
    message, _, part = error.decode(errors="replace").partition(": ")
    go = next((go for prefix, go in _GO_MESSAGES.items() if message.startswith(prefix)), message)
    return f"error parsing regexp: {go}: `{part}`"
