"""Patterns from schemas, matched by RE2: in time proportional to the text, whoever wrote them.

This is also what they mean to Kubernetes: its language has the same engine.
"""

import re
from functools import lru_cache
from time import thread_time
from typing import Any, Final

import re2  # type: ignore[import-untyped]  # it has no stubs

from kubekit.plane.registry.schema import validation_budget

_MOST_MEMORY: Final = 2 << 20  # bytes of one pattern, with all it needs while matching
_REMEMBERED: Final = 4096
_LONGEST_REMEMBERED: Final = 64  # characters
_COMPILED: Final = 4096
_MOST_STEPS: Final = 10_000  # of one pattern
_MOST_WORK: Final = 100_000_000  # steps times characters: at worst some two seconds
_REFUSED: Final = 20_000  # steps; it takes about as long to find out

# The engine knows one escape that Kubernetes does not, for texts that are no UTF-8.
_ANY_BYTE: Final = re.compile(r"(?:[^\\]|\\[^C])*\\C", re.DOTALL)
_ANY_BYTE_ERROR: Final = b"invalid escape sequence: \\C"

# The engine and Kubernetes word these differently.
_WORDS: Final = {
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
    """Whether the pattern is found in the text; one that is no pattern never is.

    Nor is one that has very many steps found in a text that is very long: both together take time.
    """
    if len(text) <= _LONGEST_REMEMBERED:
        return _matches_again(pattern, text)
    return _matches(pattern, text)


def fault_of(pattern: str) -> str | None:
    """Why this is no pattern; None when it is one."""
    _, error = _compiled(pattern)
    return _worded(error) if error else None


def steps_of(pattern: str) -> int:
    """How large the pattern is; making it ready takes about half a microsecond for each step."""
    compiled, _ = _compiled(pattern)
    return _REFUSED if compiled is None else int(compiled.programsize)


def _matches(pattern: str, text: str) -> bool:
    compiled, _ = _compiled(pattern)
    if compiled is None or compiled.programsize * len(text) > _MOST_WORK:
        return False
    # Some patterns take a thousand times as long as others of their size, so it is measured.
    before = thread_time()
    found = compiled.search(text.encode(errors="surrogatepass"))
    validation_budget.spend((thread_time() - before) * 1_000_000)
    return found is not None


_matches_again: Final = lru_cache(_REMEMBERED)(_matches)
"""The same for short texts, of which the same few come with every object."""


@lru_cache(_COMPILED)
def _compiled(pattern: str) -> tuple[Any, bytes]:
    """The pattern made ready, or None and why it is none."""
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


def _worded(error: bytes) -> str:
    told, _, part = error.decode(errors="replace").partition(": ")
    what = next((ours for theirs, ours in _WORDS.items() if told.startswith(theirs)), told)
    return f"error parsing regexp: {what}: `{part}`"
