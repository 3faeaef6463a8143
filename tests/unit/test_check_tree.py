"""The check of class names and folder sizes that ``make check`` runs."""

from pathlib import Path

from tools.check_tree import MOST_MODULES, crowded_folders, shared_names


def test_a_name_of_two_public_classes_is_reported(tmp_path: Path) -> None:
    """With every place. Private and nested classes may share a name."""
    (tmp_path / "a.py").write_text("class Index:\n    class Key: ...\n\n\nclass _Entry: ...\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.py").write_text(
        "class _Entry: ...\n\n\nclass Key: ...\n\n\nclass Index: ...\n"
    )

    assert list(shared_names(tmp_path)) == [
        "a.py:1: Index is also the name of a class in b/c.py:7",
    ]


def test_a_folder_with_too_many_modules_is_reported(tmp_path: Path) -> None:
    """``__init__.py`` does not count, and a subfolder counts by itself."""
    folder = tmp_path / "few"
    (folder / "many").mkdir(parents=True)
    for number in range(MOST_MODULES):
        (folder / f"m{number}.py").touch()
        (folder / "many" / f"m{number}.py").touch()
    (folder / "__init__.py").touch()
    (folder / "many" / "one_more.py").touch()

    assert list(crowded_folders(tmp_path)) == [
        f"few/many: {MOST_MODULES + 1} modules, at most {MOST_MODULES}"
    ]
