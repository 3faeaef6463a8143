"""Check the source tree: each public class has a name of its own, and no folder has too many modules.

A name that two classes share makes a search ambiguous and an import easy to get wrong. A folder with
many modules hides what belongs together: group the modules in packages.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
MOST_MODULES: Final = 25  # of one folder, not counting __init__.py


def main() -> int:
    """Print every complaint; the answer is the exit code."""
    source = ROOT / "src"
    complaints = [*shared_names(source), *crowded_folders(source)]
    print("\n".join(complaints) or "tree: class names are unique, and folders are small")
    return 1 if complaints else 0


def shared_names(source: Path) -> Iterator[str]:
    """A complaint for each name of several public classes."""
    places: dict[str, list[str]] = defaultdict(list)
    for file in sorted(source.rglob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{file.relative_to(source)}:{node.lineno}")
    for name, lines in sorted(places.items()):
        if len(lines) > 1:
            yield f"{lines[0]}: {name} is also the name of a class in {', '.join(lines[1:])}"


def crowded_folders(source: Path) -> Iterator[str]:
    """A complaint for each folder with more than `MOST_MODULES` modules."""
    modules: dict[Path, int] = defaultdict(int)
    for file in source.rglob("*.py"):
        modules[file.parent] += file.name != "__init__.py"
    for folder, count in sorted(modules.items()):
        if count > MOST_MODULES:
            yield f"{folder.relative_to(source)}: {count} modules, at most {MOST_MODULES}"


if __name__ == "__main__":
    sys.exit(main())
