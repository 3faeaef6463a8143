"""Texts that address something: hosts, networks, URIs. See `formats`."""

import re
from ipaddress import IPv4Address, IPv6Address
from string import ascii_letters, digits
from typing import Final
from unicodedata import category

_ALPHANUMERIC: Final = frozenset(ascii_letters + digits)
_IN_HOST: Final = _ALPHANUMERIC | set("-_.~!$&'()*+,;=:[]<>\"")
_IN_USER: Final = _ALPHANUMERIC | set("-._:~!$&'()*+,;=%@")
_SCHEME: Final = re.compile("([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_BAD_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_BAD_HOST_ESCAPE: Final = re.compile("%(?!25)(?![89A-Fa-f][0-9A-Fa-f])")
_PORT: Final = re.compile("(?::[0-9]*)?")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f]")
_PARTS: Final = 4  # of an IPv4 address
_MOST_OCTETS: Final = 255
_LONGEST_LABEL: Final = 63


def is_ipv4(text: str) -> bool:
    """An address with dots: also one in IPv6 that ends in them. Leading zeros do not count."""
    return "." in text and (_is_loose_ipv4(text) or _is_loose_ipv6(text))


def is_ipv6(text: str) -> bool:
    return ":" in text and "%" not in text and _is(IPv6Address, text)


def is_ip(text: str) -> bool:
    return is_ipv6(text) or _is(IPv4Address, text)


def is_cidr(text: str) -> bool:
    address, slash, size = text.partition("/")
    most = 32 if _is_loose_ipv4(address) else 128 if _is_loose_ipv6(address) else -1
    return bool(slash) and _is_number(size, most)


def is_mac(text: str) -> bool:
    """6, 8 or 20 bytes: one by one with colons or dashes, two by two with dots, or all together."""
    for between, width in ((":", 2), ("-", 2), (".", 4), (None, len(text))):
        parts = text.split(between) if between else [text]
        if len(parts) * width in (12, 16, 40):
            return all(len(part) == width and _is_hex(part) for part in parts)
    return False


def is_hostname(text: str) -> bool:
    """A host's name. One without a dot has at most one dash, and only after its first letter."""
    *labels, last = text.split(".")
    octets = [len(label.encode(errors="surrogatepass")) for label in (*labels, last)]
    if sum(octets) + len(labels) > _MOST_OCTETS or max(octets) > _LONGEST_LABEL:
        return False
    if not labels:
        return bool(last) and _is_symbol(last[0]) and _are_symbols(last[1:].removeprefix("-"))
    return all(_is_label(label) for label in labels) and len(last) > 1 and _are_letters(last)


def is_request_uri(text: str) -> bool:
    """A URI with a scheme, or a path from the root, as the first line of a request has it."""
    if not text or _CONTROL.search(text) or text[0] == ":":
        return False
    found = _SCHEME.fullmatch(text)
    rest = (found[2] if found else text).partition("?")[0]
    if not rest.startswith("/"):
        return text == "*" or found is not None
    if found and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        return _is_authority(authority) and not _BAD_ESCAPE.search(slash + path)
    return not _BAD_ESCAPE.search(rest)


def _is_authority(text: str) -> bool:
    user, _, host = text.rpartition("@")
    return set(user) <= _IN_USER and not _BAD_ESCAPE.search(user) and _is_host(host)


def _is_host(text: str) -> bool:
    name, bracket, port = text.rpartition("]") if text.startswith("[") else ("", "", text)
    if text.startswith("[") and not bracket:
        return False
    if not bracket:
        port = text[text.rindex(":") :] if ":" in text else ""
        name = text.removesuffix(port)
    allowed = all(letter in _IN_HOST or letter > "\x7f" or letter == "%" for letter in name)
    return allowed and _PORT.fullmatch(port) is not None and not _BAD_HOST_ESCAPE.search(name)


def _is_loose_ipv4(text: str) -> bool:
    parts = text.split(".")
    return len(parts) == _PARTS and all(_is_number(part, 255) for part in parts)


def _is_loose_ipv6(text: str) -> bool:
    head, colon, tail = text.rpartition(":")
    if colon and _is_loose_ipv4(tail):
        text = f"{head}:0:0"
    return is_ipv6(text)


def _is_number(text: str, most: int) -> bool:
    significant = text.lstrip("0") or "0"
    plain = text.isascii() and text.isdigit() and len(significant) <= len(str(most))
    return plain and int(significant) <= most


def _is(kind: type[IPv4Address | IPv6Address], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def _is_hex(text: str) -> bool:
    return re.fullmatch("[0-9a-fA-F]+", text) is not None


def _is_label(label: str) -> bool:
    ends = label[:1], label[-1:]
    return all(map(_is_symbol, ends)) and _are_symbols(label.replace("-", "a"))


def _are_symbols(text: str) -> bool:
    return all(map(_is_symbol, text))


def _is_symbol(letter: str) -> bool:
    return letter in _ALPHANUMERIC or (letter > "\x7f" and category(letter)[0] in "SL")


def _are_letters(text: str) -> bool:
    return all(letter in ascii_letters or category(letter)[0] == "L" for letter in text)
