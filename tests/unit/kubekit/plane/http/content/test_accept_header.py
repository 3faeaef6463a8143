import pytest

from kubekit.plane.http.content.accept_header import MediaRange, ranges, takes


def test_no_header_takes_anything():
    """Who sends no Accept header takes whatever comes."""
    assert ranges("") == (MediaRange("*/*"),)


def test_parameters_are_read():
    """Parameters keep their case, their quotes go, and types are compared in lower case."""
    (got,) = ranges('Application/JSON; As="Table" ;v=v1')
    assert got == MediaRange("application/json", {"as": "Table", "v": "v1"})


def test_better_liked_comes_first():
    """Order is by quality, then as written."""
    got = ranges("text/a;q=0.5, text/b, text/c;q=0.7, text/d")
    assert [entry.type for entry in got] == ["text/b", "text/d", "text/c", "text/a"]


@pytest.mark.parametrize("quality", ["0", "0.0", "none", "nan"])
def test_what_is_not_liked_at_all_is_left_out(quality):
    """A quality of zero, or one that is no number, takes an entry away."""
    assert ranges(f"text/a;q={quality}") == ()


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("application/json", True),
        ("application/*", True),
        ("*/*", True),
        ("text/*", False),
        ("application/yaml", False),
    ],
)
def test_ranges_cover_types(accepted, expected):
    """A range takes a type by name, by family, or because it takes everything."""
    assert takes(MediaRange(accepted), "application/json") is expected
