"""Lines out of pieces."""

import pytest
from hypothesis import given, strategies as st

from kubekit.client.http.lines import LineSplitter, LineTooLong

LINE = st.binary(max_size=12).filter(lambda line: b"\n" not in line)


def cut(text: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({min(place, len(text)) for place in cuts})
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def taken(pieces: list[bytes], longest: int = 1000) -> tuple[list[bytes], bool]:
    lines = LineSplitter(longest)
    found = [line.tobytes() for piece in pieces for line in lines.feed(piece)]
    return found, lines.has_partial_line


@given(st.lists(LINE), LINE, st.lists(st.integers(0, 150)))
def test_any_cutting_gives_the_same_lines(lines, rest, cuts):
    """However a stream is cut into pieces, its lines are those of the whole."""
    text = b"".join(line + b"\n" for line in lines) + rest
    expected = [line for line in lines if line.strip(b" \t\r")]
    assert taken(cut(text, cuts)) == (expected, bool(rest.strip(b" \t\r")))


@given(st.lists(LINE))
def test_one_byte_at_a_time_gives_the_same_lines(lines):
    """A reader that gets each byte by itself sees what one sees who gets all at once."""
    text = b"".join(line + b"\n" for line in lines)
    assert taken([text[at : at + 1] for at in range(len(text))]) == taken([text])


def test_a_line_within_a_piece_is_not_copied():
    """What lies within one piece is a view of it."""
    piece = b'{"a":1}\n{"b":2}\n'
    assert [line.obj is piece for line in LineSplitter(100).feed(piece)] == [True, True]


def test_a_line_of_ten_megabytes_comes_whole():
    """A long line in many pieces is one line."""
    line = b"x" * 10_000_000
    pieces = [line[at : at + 65536] for at in range(0, len(line), 65536)]
    assert taken([*pieces, b"\n"], longest=len(line)) == ([line], False)


@pytest.mark.parametrize(
    "pieces", [[b"123456\n"], [b"123456"], [b"123", b"456\n"], [b"123", b"456"]], ids=str
)
def test_a_line_beyond_the_limit_is_refused(pieces):
    """A line that is too long is an error, whether or not its end has come."""
    with pytest.raises(LineTooLong, match="more than 5 bytes"):
        taken(pieces, longest=5)


def test_lines_up_to_the_limit_are_taken():
    """The limit itself is allowed."""
    assert taken([b"12345\n123", b"45\n"], longest=5) == ([b"12345", b"12345"], False)
