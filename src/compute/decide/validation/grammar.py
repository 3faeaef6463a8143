"""The grammars of names, and hints for misspelled ones."""

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Final

from compute.api.names import LABEL_LIMIT
from kubekit.api.fields import FieldError, Path, duplicate, invalid, required
from kubekit.api.meta import NAME_LIMIT

LABEL_RULE: Final = (
    "must be a DNS label: 1 to 63 of a-z, 0-9 and '-', with a letter or digit at both ends"
)
_OBJECT_NAME_RULE: Final = (
    "must be the name of an object: at most 253 of a-z, 0-9, '-' and '.', "
    "with a letter or digit at both ends of each part"
)
_PORT_NAME_RULE: Final = (
    "must be a port name: 1 to 15 of a-z, 0-9 and '-', at least one of them a letter, "
    "with a letter or digit at both ends and no '--'"
)
_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_PORT_NAME: Final = re.compile(r"(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?")
_NO_LABEL_CHARACTERS: Final = re.compile(r"[^a-z0-9]+")


class Taken:
    """The names that a list has used so far. The second use of a name is the error.

    An empty name is missing rather than taken, and reported as such elsewhere.
    """

    def __init__(self) -> None:
        self._first: dict[str, Path] = {}

    def check(self, path: Path, value: str, key: str | None = None) -> Iterator[FieldError]:
        """``key`` is what is compared, where that is not the value as it is written."""
        first = self._first.setdefault(value if key is None else key, path)
        if value and first != path:
            yield duplicate(path, value, f"{first} has it already; use each only once")


def is_label(text: str) -> bool:
    return _LABEL.fullmatch(text) is not None


def check_label(path: Path, text: str) -> Iterator[FieldError]:
    if not text:
        yield required(path, LABEL_RULE)
    elif not is_label(text):
        yield invalid(path, text, LABEL_RULE + _example(text))


def check_object_name(path: Path, text: str) -> Iterator[FieldError]:
    """Names of ConfigMaps and Secrets, which may have dots."""
    if not text:
        yield required(path, _OBJECT_NAME_RULE)
    elif len(text) > NAME_LIMIT or not _SUBDOMAIN.fullmatch(text):
        yield invalid(path, text, _OBJECT_NAME_RULE)


def check_port_name(path: Path, text: str) -> Iterator[FieldError]:
    if not text:
        yield required(path, _PORT_NAME_RULE)
    elif not _PORT_NAME.fullmatch(text):
        yield invalid(path, text, _PORT_NAME_RULE)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, whatever its case; None when none is close.

    A long text is not compared: it is no misspelled name, and the comparison would take long.
    """
    if len(word) > LABEL_LIMIT:
        return None
    by_case = {k.casefold(): k for k in sorted(known, reverse=True)}
    close = difflib.get_close_matches(word.casefold(), by_case, n=1)
    return by_case[close[0]] if close else None


def _example(text: str) -> str:
    example = _NO_LABEL_CHARACTERS.sub("-", text.lower()).strip("-")[:LABEL_LIMIT].rstrip("-")
    return f'; for example "{example}"' if example else ""
