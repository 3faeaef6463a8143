"""Reading manifests from anywhere."""

import pytest

from compute.cli import manifests
from compute.cli.exits import Failure


@pytest.fixture
def read(tmp_path):
    """Reads manifests from text, as if it stood in a file."""

    def _read(text: str | bytes) -> list[dict[str, object]]:
        path = tmp_path / "m.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return [m.document for m in manifests.read(str(path))]

    return _read


def test_reads_yaml_json_and_several_documents(read):
    """One file may hold several documents, empty ones among them, or a List."""
    assert read("a: 1\n---\n---\nb: [x]\n") == [{"a": 1}, {"b": ["x"]}]
    assert read('{"a": {"b": true}}') == [{"a": {"b": True}}]
    assert read("kind: List\nitems: [{a: 1}, {b: 2}]") == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NO", "NO"),
        ("yes", "yes"),
        ("2026-06-01", "2026-06-01"),
        ("2026-06-01T12:00:00Z", "2026-06-01T12:00:00Z"),
        ("22:22", "22:22"),
        ("1_000", "1_000"),
        ("0644", 0o644),
        ("08", "08"),
        ("-7", -7),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("true", True),
        ("null", None),
        ("~", None),
        ("", None),
        (".inf", ".inf"),
        ("'1'", "1"),
    ],
)
def test_plain_words_mean_what_they_mean_in_json(read, text, value):
    """Only JSON's own words are special, so a city called NO stays a city."""
    assert read(f"key: {text}") == [{"key": value}]


def test_keys_are_strings(read):
    """A number or a boolean as a key is read as its text, as JSON needs it."""
    assert read("1: a\ntrue: b") == [{"1": "a", "true": "b"}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "m.yaml, line 2, column 1: did not find expected node content"),
        ("a: 1\na: 2", "m.yaml, line 2, column 1: the key 'a' is given twice"),
        ("? [a]\n: 1", "m.yaml, line 1, column 3: a key must be a word"),
        ("a: &x 1\nb: *x", "m.yaml, line 2, column 4: aliases are not supported"),
        ("[" * 200, "nested deeper than 100 levels"),
        ("[" * 100_000, "nested deeper than 100 levels"),
        ("a: " + "{b: " * 150 + "1" + "}" * 150, "nested deeper than 100 levels"),
        ("- 1", "document 1: not an object with apiVersion and kind"),
        ("just words", "document 1: not an object"),
        ("", "there is no document in it"),
        ("---\n---\n", "there is no document in it"),
        (b"\xff\xfe\xff", "this is not readable as YAML or JSON"),
        (b"a: \x00", "this is not readable as YAML or JSON"),
        ("a: !!python/object:os.system x", "could not determine a constructor"),
        (b"a" * (manifests.SIZE_LIMIT + 1), "larger than 3 MiB"),
    ],
    ids=[
        "syntax", "key twice", "list as key", "alias", "deep", "very deep", "deep maps", "a list", "a word",
        "empty", "only markers", "not text", "NUL", "foreign tag", "too large",
    ],
)  # fmt: skip
def test_bad_manifests_are_refused_in_a_sentence(read, text, words):
    """What cannot be read says where and why, and cannot harm the reader."""
    with pytest.raises(Failure) as refused:
        read(text)

    assert words in str(refused.value)


def test_a_missing_file_is_named(tmp_path):
    """A path that cannot be opened is named with the reason."""
    with pytest.raises(Failure, match=r"none\.yaml: cannot be read: No such file or directory"):
        manifests.read(str(tmp_path / "none.yaml"))
    with pytest.raises(Failure, match="cannot be read: Is a directory"):
        manifests.read(str(tmp_path))
