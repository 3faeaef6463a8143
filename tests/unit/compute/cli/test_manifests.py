"""Reading manifests from anywhere."""

import pytest

from compute.cli.deploy import manifests
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
        ("1e3", 1000),
        ("1.0", 1),
        ("1e21", 1e21),
        ("'\\ud83d\\ude00'", r"\ud83d\ude00"),
        ("true", True),
        ("null", None),
        ("~", None),
        ("", None),
        (".inf", ".inf"),
        ("'1'", "1"),
    ],
)
def test_plain_scalars_mean_what_they_mean_in_json(read, text, value):
    """Only JSON's own literals are special, so a city called NO stays a city; 1.0 is 1."""
    ((got,),) = (document.values() for document in read(f"key: {text}"))

    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'{"key": "\ud83d\ude00\uD83D\uDE00"}', "\N{GRINNING FACE}" * 2),
        (r'{"key": "\\ud83d\ude00"}', None),
        (r'{"key": "\\\ud83d\ude00"}', "\\\N{GRINNING FACE}"),
        ('\ufeff{"key":"\\ud83d\\ude00"}', "\N{GRINNING FACE}"),
        ('{\n\t"key":"a\\/b"}', "a/b"),
    ],
    ids=["pairs", "half a pair", "after a backslash", "byte order mark", "tab and slash"],
)
def test_json_is_read_as_json(read, text, value):
    """JSON has an escape for each half of a character; half a character is none."""
    if value is None:
        with pytest.raises(Failure, match="invalid Unicode character escape code"):
            read(text)
    else:
        assert read(text) == [{"key": value}]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_marks_and_line_ends_of_other_systems(read, encoding):
    """A byte order mark and carriage returns are no part of the manifest."""
    assert read("a: é\r\nb: 2\r\n".encode(encoding)) == [{"a": "é", "b": 2}]


def test_tags_that_say_what_is_plain(read):
    """A tag may ask for the text, the map or the list that stands there."""
    assert read("a: !!str 1\nc: !!seq [x]\nd: !!map {e: f}") == [
        {"a": "1", "c": ["x"], "d": {"e": "f"}}
    ]


@pytest.mark.parametrize(
    "value",
    [
        "!!bool x", "!!int ''", "!!float ''", "!!timestamp x", "!!timestamp 2026-01-01", "!!set {a}",
        "!!binary aGk=", "!!omap [a: 1]", "!!pairs [a: 1]", "!mine x", "! x", "!!python/name:os.system ''",
    ],
)  # fmt: skip
def test_other_tags_are_refused(read, value):
    """What a tag could ask for besides is nothing that JSON has."""
    with pytest.raises(Failure, match="line 2, column 4: tags are not supported"):
        read(f"a: 1\nb: {value}")


def test_keys_are_strings(read):
    """A number or a boolean as a key is read as its text, as JSON needs it."""
    assert read("1: a\ntrue: b") == [{"1": "a", "true": "b"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "m.yaml, line 2, column 1: did not find expected node content"),
        ("a:\n  b: 1\n c: 2", "check the indentation of this line and the one above"),
        ("a: b: c", 'quote a value that contains ": "'),
        ("a:\n\tb: 1", "indent with spaces, not with tabs"),
        ("a: 1\na: 2", "m.yaml, line 2, column 1: the key 'a' is given twice"),
        ("? [a]\n: 1", "m.yaml, line 1, column 3: a key must be a string, not a list or map"),
        ("a: &x 1\nb: *x", "m.yaml, line 2, column 4: aliases are not supported"),
        ("[" * 200, "nested deeper than 100 levels"),
        ("[" * 100_000, "nested deeper than 100 levels"),
        ("a: " + "{b: " * 150 + "1" + "}" * 150, "nested deeper than 100 levels"),
        ("- 1", "document 1: not an object with apiVersion and kind"),
        ("just words", "document 1: not an object"),
        ("", "there is no document in it"),
        ("---\n---\n", "there is no document in it"),
        (b"\xff\xfe\xff", "m.yaml, byte 3: not readable as text: incomplete UTF-16 character"),
        ("a: é".encode("latin-1"), "m.yaml, byte 4: not readable as text: incomplete UTF-8"),
        (b"a: \x00", "m.yaml, byte 4: not readable as text: control characters are not allowed"),
        ("a: 1" + "0" * 5000, "m.yaml, line 1, column 4: a number has more than 40 digits"),
        ("a: 0" + "7" * 5000, "m.yaml, line 1, column 4: a number has more than 40 digits"),
        ("a: -1e400", "m.yaml, line 1, column 4: a number is too large"),
        (r'a: "\ud800"', "m.yaml, line 1, column 7: found invalid Unicode character escape code"),
        (b"a" * (manifests.SIZE_LIMIT + 1), "larger than 3 MiB"),
    ],
    ids=[
        "syntax", "indentation", "colon", "tab", "key twice", "list as key", "alias", "deep", "very deep", "deep maps", "a list", "a word",
        "empty", "only markers", "not text", "Latin-1", "NUL", "many digits", "many octal digits",
        "infinite", "half a character", "too large",
    ],
)  # fmt: skip
def test_bad_manifests_are_refused_in_a_sentence(read, text, message):
    """The error says where and why, and the process is not harmed."""
    with pytest.raises(Failure) as refused:
        read(text)

    assert message in str(refused.value)


def test_a_missing_file_is_named(tmp_path):
    """A path that cannot be opened is named with the reason."""
    with pytest.raises(Failure, match=r"none\.yaml: cannot be read: No such file or directory"):
        manifests.read(str(tmp_path / "none.yaml"))
    with pytest.raises(Failure, match=r"there is no manifest in it, such as web\.yaml"):
        manifests.read(str(tmp_path))
    with pytest.raises(Failure, match=r"^'': cannot be read: Is a directory"):
        manifests.read("")
