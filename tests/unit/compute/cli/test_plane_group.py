"""The commands of a plane are one group; their old names still work."""

import pytest

from compute.cli.root import root, run


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["plane-keys", "list"], ["plane", "keys", "list"]),
        (["plane-users", "add", "alice"], ["plane", "users", "add", "alice"]),
        (["plane"], ["plane", "serve"]),
    ],
    ids=["keys", "users", "serve"],
)
def test_the_old_names_do_the_same(tmp_path, capsys, old, new):
    """Each fails on an empty folder in the same words, so each reaches the same command."""
    file = tmp_path / "no folder"
    file.touch()
    outcomes = []
    for words in (old, new):
        code = run([*words, "--data", str(file)])
        said = capsys.readouterr().err.replace("plane-keys", "plane keys")
        outcomes.append((code, said.replace("plane-users", "plane users").replace(" serve", "")))

    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] != 0


def test_help_lists_the_group_and_not_the_old_names(capsys):
    """A newcomer learns one name for each."""
    assert run(["--help"]) == 0
    assert "plane-" not in capsys.readouterr().out
    assert {"plane-users", "plane-keys"} < set(root.entries)
