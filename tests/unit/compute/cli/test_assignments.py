"""Values on a command line."""

import io

import click
import pytest

from compute.cli.change.stores.assignments import read_change
from compute.cli.exits import Failure
from compute.decide.stored_values import ValueChange

TOKEN = "deadbeef00=="


@pytest.fixture
def stdin(monkeypatch):
    """Replaces stdin by some bytes."""

    def replaced(content):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    return replaced


def refusal(*assignments, files=(), env_files=()):
    with pytest.raises(click.UsageError) as error:
        read_change(assignments, files, env_files)
    return error.value.format_message()


def failure(*, files=(), env_files=()):
    with pytest.raises(Failure) as error:
        read_change((), files, env_files)
    return str(error.value)


def test_arguments_keep_their_bytes():
    """Only the first '=' separates; what is no UTF-8 arrives as the shell passed it."""
    change = read_change(("A=" + TOKEN, "B=", "C=\udcff", "D-"), (), ())

    assert change == ValueChange({"A": b"deadbeef00==", "B": b"", "C": b"\xff"}, frozenset({"D"}))


def test_stdin_is_the_value_of_one_key(stdin, capsys):
    """A newline at its end is part of the value, and is pointed out: it is rarely meant."""
    stdin(b"hunter2\n")

    assert read_change(("A=-",), (), ()).values == {"A": b"hunter2\n"}
    assert capsys.readouterr().err == (
        "The value of A ends with a newline, which is part of it; printf adds none.\n"
    )
    assert refusal("A=-", "B=-") == "stdin can be the value of one key only, not of A and B"


def test_binary_stdin(stdin, capsys):
    """Bytes of any kind pass, without remarks."""
    stdin(b"\xff\r\n\x00\n")

    assert read_change((), ("A=-",), ()).values == {"A": b"\xff\r\n\x00\n"}
    assert capsys.readouterr().err == ""


def test_files_have_their_own_name_or_a_key(tmp_path):
    """The content stays as it is, line ends included."""
    (tmp_path / "tls.crt").write_bytes(b"-----\r\n\xff")
    path = str(tmp_path / "tls.crt")

    change = read_change((), (path, f"copy={path}"), ())

    assert change.values == {"tls.crt": b"-----\r\n\xff", "copy": b"-----\r\n\xff"}


def test_files_of_variables(tmp_path):
    """Comments and empty lines are left out; quotes are not interpreted."""
    file = tmp_path / ".env"
    file.write_bytes(b'\xef\xbb\xbf# comment\r\n\r\nA=1=2\r\n B="x y"\n')

    assert read_change((), (), (str(file),)).values == {"A": b"1=2", "B": b'"x y"'}


def test_wrong_lines_of_a_file_are_named(tmp_path):
    """By their number, and without the value."""
    file = tmp_path / ".env"
    file.write_text("A=1\nhunter2\n")
    assert failure(env_files=(str(file),)) == f"{file}, line 2: there is no '='; write KEY=VALUE"
    file.write_text("A B=hunter2\n")
    assert failure(env_files=(str(file),)) == (
        f"{file}, line 1: 'A B' cannot be a key: use letters, digits, '-', '_' and '.'"
    )


def test_files_that_cannot_be_read(tmp_path):
    """The reason is that of the system."""
    assert failure(files=(f"A={tmp_path}",)) == f"{tmp_path}: cannot be read: Is a directory"
    absent = f"{tmp_path}/absent"
    assert failure(env_files=(absent,)) == f"{absent}: cannot be read: No such file or directory"


def test_wrong_arguments_are_not_repeated():
    """An argument without '=' may be a password."""
    assert refusal("A=1", "hunter2") == (
        "argument 2 after NAME has no '=': write KEY=VALUE, KEY=- to read the value from stdin, "
        "or KEY- to remove the key"
    )


def test_other_refusals():
    """Each names the key."""
    assert refusal("a b=1") == "'a b' cannot be a key: use letters, digits, '-', '_' and '.'"
    assert refusal("-") == "'' cannot be a key: it is empty"
    assert refusal("A=1", "A-") == "the key A is given twice"
    assert refusal("A-", "A=1") == "the key A is given twice"
    assert refusal() == "nothing to set: give KEY=VALUE, --from-file or --from-env-file"
