"""Check the docs: links and paths exist, dependencies are argued for, folders are explained."""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`([a-z_]+(?:/[a-z_]+)+(?:/|\.py)?)`")
NAME = re.compile(r"^[A-Za-z0-9._-]+")


def main() -> int:
    """Print every complaint; the answer is the exit code."""
    checks = (_broken_links, _unargued, _unlisted, _unexplained, _moved, _unnamed)
    complaints = [complaint for check in checks for complaint in check()]
    print("\n".join(complaints) or "docs: links, paths, decisions and folders agree")
    return 1 if complaints else 0


def _pages() -> Iterator[Path]:
    yield from ROOT.glob("*.md")
    yield from (ROOT / "docs").rglob("*.md")


def _broken_links() -> Iterator[str]:
    for page in _pages():
        for target in LINK.findall(page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                yield f"{page.relative_to(ROOT)}: the link to {target} leads nowhere"


def _unargued() -> Iterator[str]:
    """Dependencies that no decision names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [
        *project["project"]["dependencies"],
        *project["dependency-groups"]["dev"],
        *project["build-system"]["requires"],
    ]
    decisions = "\n".join(p.read_text() for p in _decisions()).lower()
    for requirement in wanted:
        name = NAME.findall(requirement)[0].lower()
        if not re.search(rf"\b{re.escape(name)}\b", decisions):
            yield f"docs/decisions: nothing says why {name} is a dependency"


def _unlisted() -> Iterator[str]:
    index = (ROOT / "docs/decisions/README.md").read_text()
    for page in _decisions():
        if f"({page.name})" not in index:
            yield f"docs/decisions/README.md: does not list {page.name}"


def _unexplained() -> Iterator[str]:
    """Packages that the architecture page leaves out, and decisions that their page leaves out."""
    text = (ROOT / "docs/architecture.md").read_text()
    for root in ("kubekit", "compute"):
        for package in sorted((ROOT / "src" / root).iterdir()):
            if (package / "__init__.py").exists() and f"`{package.name}/`" not in text:
                yield f"docs/architecture.md: does not explain {root}/{package.name}/"
    decisions = (ROOT / "docs/decide.md").read_text()
    for topic in sorted((ROOT / "src/compute/decide").iterdir()):
        name = topic.stem
        if not name.startswith("__") and f"decide/{name}" not in decisions:
            yield f"docs/decide.md: does not say what decide/{name} answers"


def _moved() -> Iterator[str]:
    """Paths of the source tree that a page names and that do not exist."""
    roots = [ROOT / "src/kubekit", ROOT / "src/compute", ROOT / "src", ROOT]
    tops = {child.name for root in roots for child in root.iterdir() if child.is_dir()}
    for page in _pages():
        for path in PATH.findall(page.read_text()):
            known = (root / f"{path}{suffix}" for root in roots for suffix in ("", ".py"))
            if path.split("/")[0] in tops and not any(file.exists() for file in known):
                yield f"{page.relative_to(ROOT)}: there is no {path}"


def _unnamed() -> Iterator[str]:
    """Numbers that only tests have, or only the page of weaknesses."""
    tests = "\n".join(p.read_text() for p in (ROOT / "tests").rglob("test_*.py"))
    shown = {int(number) for number in re.findall(r"def test_w(\d+)_", tests)}
    listed = re.findall(r"^\| W(\d+) ", (ROOT / "docs/weaknesses.md").read_text(), re.MULTILINE)
    for number in sorted(shown ^ {int(number) for number in listed}):
        yield f"docs/weaknesses.md: W{number} stands only here, or only in the tests"


def _decisions() -> list[Path]:
    return sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))


if __name__ == "__main__":
    sys.exit(main())
