"""Inputs for parsers: any bytes, and valid bytes that were changed."""

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

# What makes parsers stumble, in one language or another.
WORDS = (
    b"", b"\x00", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\\u0000", b"\\ud800",
    b"\\u0022", b"{", b"}", b"[", b"]", b"(", b")", b'"', b"'", b"\\", b",", b":", b": ", b"\n", b"\t",
    b"- ", b"&a", b"*a", b"!!python/object:x", b"%", b"%00", b"%2", b"%2e%2e", b"..", b"/", b"~1",
    b"~", b"null", b"true", b"NaN", b"1e400", b"-0", b"9" * 25, b"9" * 5000, b"0x1", b"1_0", b"+",
    b"1e-999", b"Ki", b"e3", b"$patch", b"=", b"==", b"!=", b"in", b"notin", b"<", b">", b"@", b"?",
    b"$", b".", b"f:", b"k:{}", b"v:1", b"i:-1", b"[" * 2000, b'{"a":' * 1200, b"(" * 600, b"--",
    b"%TAG ! x\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\r\n", b"\r", b"a" * 3000, "ü".encode(), "٣".encode(),
)  # fmt: skip


def spoiled(seeds: Sequence[bytes]) -> SearchStrategy[bytes]:
    """One of the seeds after a few cuts, and with something odd, or a piece of another, put in."""
    piece = st.sampled_from(WORDS) | st.binary(max_size=6) | st.sampled_from(list(seeds))
    edit = st.tuples(st.integers(0, 999), st.integers(0, 12), piece)
    return st.builds(_edited, st.sampled_from(list(seeds)), st.lists(edit, min_size=1, max_size=4))


def anything() -> SearchStrategy[bytes]:
    """Arbitrary bytes, and the bytes of arbitrary text."""
    return st.binary(max_size=200) | st.text(max_size=200).map(_encoded)


def text_of(data: bytes) -> str:
    """The bytes as a text: as UTF-8 where they are, else as headers are read."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _edited(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """The data after each edit: a place in thousandths, how much goes there, and what comes."""
    for place, size, piece in edits:
        at = len(data) * place // 1000
        data = data[:at] + piece + data[at + size :]
    return data
