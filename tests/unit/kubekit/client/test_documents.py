"""Reading documents from anybody. What they mean is tested with the manifests of the command."""

import pytest

from kubekit.client.documents import DEPTH_LIMIT, SIZE_LIMIT, UnreadableDocument, read


def test_every_document_is_read():
    """Several documents come in their order; an empty one is None."""
    assert read(b"a: 1\n---\n---\n[b]\n") == [{"a": 1}, None, ["b"]]
    assert read(b"") == []


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        (b"a: 1\na: 2", ", line 2, column 1", "the key 'a' is given twice"),
        (b"a: \xff", ", byte 4", "not readable as text"),
        (b"x" * (SIZE_LIMIT + 1), "", "larger than 3 MiB"),
        (b"[" * (DEPTH_LIMIT + 1), f", line 1, column {DEPTH_LIMIT + 1}", "nested deeper"),
        (b"a: *b", ", line 1, column 4", "aliases are not supported"),
        (b"a: !b c", ", line 1, column 4", "tags are not supported"),
        (b"%TAG !a! b\n" * 11 + b"--- c", "", "more than 10 lines start with %TAG"),
        ("\n%TAG !a! b".encode("utf-16-le").join([b"\xff\xfe"] * 12), "", "more than 10 lines"),
    ],
    ids=["twice", "bytes", "size", "depth", "alias", "tag", "directives", "utf-16"],
)
def test_refusals_say_where_and_what(text, place, problem):
    """The place fits behind the name of a file; without a name the words still read well."""
    with pytest.raises(UnreadableDocument) as refused:
        read(text)

    assert refused.value.location == place
    assert refused.value.problem.startswith(problem)
    assert str(refused.value).startswith(f"{place}: {problem}".lstrip(" ,:"))


def test_a_text_of_windows_is_read():
    """Its encoding is detected by its first bytes."""
    assert read('"é": "%TAG"\n'.encode("utf-16")) == [{"é": "%TAG"}]


def test_the_number_of_nodes_can_be_limited():
    """A server that also serves other requests does not parse for seconds."""
    text = b"[" + b"1," * 100 + b"]"

    assert read(text) == read(text, most_nodes=200) == [[1] * 100]
    with pytest.raises(UnreadableDocument, match="larger than 50 keys and values; send it as JSON"):
        read(text, most_nodes=50)
