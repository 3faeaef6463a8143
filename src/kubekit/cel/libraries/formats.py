"""Named formats of texts: ``format.dns1123Label().validate(name)``."""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import Final

from kubekit.cel.declarations import Overload, function, method
from kubekit.cel.libraries import urls
from kubekit.cel.operations.opaques import Format
from kubekit.cel.operations.times import parse_date
from kubekit.cel.types import FORMAT, STRING, list_of, optional_of
from kubekit.cel.values import NONE, Optional, some

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_CHARACTERS: Final = "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_QUALIFIED_WORDS: Final = f"must consist of {_CHARACTERS}"
_UUID: Final = re.compile(
    r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE
)
_TIME: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))")
_SHORT: Final = 63
_LONG: Final = 253
_MASK: Final = re.compile(r"-$")


def _pattern(expression: str, words: str, *examples: str, limit: int) -> Callable[[str], list[str]]:
    compiled = re.compile(expression)

    def check(text: str) -> list[str]:
        problems = []
        if len(text.encode("utf-8", "surrogatepass")) > limit:
            problems.append(f"must be no more than {limit} characters")
        if not compiled.fullmatch(text):
            problems.append(_pattern_words(words, expression, examples))
        return problems

    return check


def _pattern_words(words: str, expression: str, examples: tuple[str, ...]) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{words} (e.g. {shown}regex used for validation is '{expression}')"


_label: Final = _pattern(
    _LABEL,
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character",
    "my-name",
    "123-abc",
    limit=_SHORT,
)
_subdomain: Final = _pattern(
    _SUBDOMAIN,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character",
    "example.com",
    limit=_LONG,
)
_label_1035: Final = _pattern(
    _LABEL_1035,
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character",
    "my-name",
    "abc-123",
    limit=_SHORT,
)
_label_value: Final = _pattern(
    f"({_QUALIFIED})?",
    f"a valid label must be an empty string or consist of {_CHARACTERS}",
    "MyValue",
    "my_value",
    "12345",
    limit=_SHORT,
)
_name_part: Final = _pattern(
    _QUALIFIED, _QUALIFIED_WORDS, "MyName", "my.name", "123-abc", limit=_SHORT
)


def _prefix(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """The check of a name's beginning, which may end in a dash."""
    return lambda text: check(_MASK.sub("a", text) if len(text) > 1 else text)


def _qualified_name(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        shown = _pattern_words(_QUALIFIED_WORDS, _QUALIFIED, ("MyName", "my.name", "123-abc"))
        prefixed = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a qualified name {shown} {prefixed}"]
    problems = []
    if slash and not prefix:
        problems.append("prefix part must be non-empty")
    elif slash:
        problems += [f"prefix part {problem}" for problem in _subdomain(prefix)]
    if not name:
        problems.append("name part must be non-empty")
    return problems + [f"name part {problem}" for problem in _name_part(name)]


def _uri(text: str) -> list[str]:
    try:
        urls.parse(text)
    except urls.BadUrl as error:
        return [str(error)]
    return []


def _uuid(text: str) -> list[str]:
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


def _byte(text: str) -> list[str]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ["invalid base64"]
    return [] if text else ["invalid base64"]


def _date(text: str) -> list[str]:
    return [] if parse_date(text) else ["invalid date"]


def _datetime(text: str) -> list[str]:
    day, middle, time = text.lower().partition("t")
    if middle and parse_date(day) and (match := _TIME.fullmatch(time)):
        hour, minute, second = int(match[1]), int(match[2]), int(match[3])
        if hour <= 23 and minute <= 59 and second <= 59:  # noqa: PLR2004 - a clock
            return []
    return ["invalid datetime"]


FORMATS: Final = {
    "dns1123Label": Format("DNS1123Label", 8, _label),
    "dns1123Subdomain": Format("DNS1123Subdomain", 15, _subdomain),
    "dns1035Label": Format("DNS1035Label", 8, _label_1035),
    "qualifiedName": Format("QualifiedName", 15, _qualified_name),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", 8, _prefix(_label)),
    "dns1123SubdomainPrefix": Format("DNS1123SubdomainPrefix", 15, _prefix(_subdomain)),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", 8, _prefix(_label_1035)),
    "labelValue": Format("LabelValue", 10, _label_value),
    "uri": Format("URI", 276, _uri),
    "uuid": Format("uuid", 18, _uuid),
    "byte": Format("byte", 21, _byte),
    "date": Format("date", 18, _date),
    "datetime": Format("datetime", 18, _datetime),
}


def _validate(format_: Format, text: str) -> Optional:
    problems = format_.check(text)
    return some(problems) if problems else NONE


def _named(name: str) -> Optional:
    return some(FORMATS[name]) if name in FORMATS else NONE


def _constants() -> Iterator[Overload]:
    for name, format_ in FORMATS.items():
        yield function(f"format.{name}", f"format.{name}", (), FORMAT, lambda f=format_: f)


OVERLOADS: Final[tuple[Overload, ...]] = (
    *_constants(),
    function("format.named", "format-named", (STRING,), optional_of(FORMAT), _named),
    method(
        "validate", "format-validate", (FORMAT, STRING), optional_of(list_of(STRING)), _validate
    ),
)
