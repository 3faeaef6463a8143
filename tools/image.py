"""Make the files of the container image: the product and its locked dependencies, for one Python.

    python tools/image.py build DIRECTORY     makes DIRECTORY/opt/compute and prints its digest
    python tools/image.py digest DIRECTORY    prints the digest of a tree, such as one from an image

The Containerfile runs it, and so does the test where there is no container engine. The same commit and
Python make the same bytes: versions and hashes come from the lock, each file has the time
SOURCE_DATE_EPOCH, and compiled modules carry no times. Runs on the standard library and uv.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
UV: Final = ROOT / ".venv/bin/uv"
PREFIX: Final = Path("opt/compute")
SBOM: Final = "sbom.cdx.json"
# The default is that of hatchling, so that a build without the variable is reproducible too.
EPOCH: Final = int(os.environ.get("SOURCE_DATE_EPOCH", "1580601600"))

_SCRIPT: Final = """\
#!/usr/bin/env -S python3 -I
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
from {module} import {function}

sys.exit({function}())
"""
# What an installer notes about itself. The first names the folder of the build.
_TRACES: Final = ("direct_url.json", "uv_cache.json", "INSTALLER", "REQUESTED")


def main() -> int:
    """Build, or only compute the digest."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("action", choices=("build", "digest"))
    parser.add_argument("directory", type=Path)
    arguments = parser.parse_args()
    directory: Path = arguments.directory
    if arguments.action == "build":
        build(directory / PREFIX)
    print(digest(directory / PREFIX))
    return 0


def build(application: Path) -> None:
    """Make the tree. The folder must not exist."""
    application.mkdir(parents=True)
    library = application / "lib"
    with tempfile.TemporaryDirectory() as scratch:
        _install(library, _exported(Path(scratch) / "product.txt", "--no-dev"))
        _install(library, [str(_wheel(Path(scratch)))])
    shutil.rmtree(library / "bin", ignore_errors=True)
    _remove_traces(library)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    _write_scripts(application / "bin", project["scripts"])
    (application / SBOM).write_text(_bill_of_materials())
    shutil.copy(ROOT / "LICENSE", application)
    _compile(application)
    _normalize(application)


def digest(application: Path) -> str:
    """One hash of the names and contents of all files, and of which ones are commands."""
    total = hashlib.sha256()
    for path in _files(application):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        command = "x" if path.stat().st_mode & 0o100 else "-"
        total.update(f"{path.relative_to(application)} {command} {content}\n".encode())
    return f"sha256:{total.hexdigest()}"


def _exported(path: Path, *choice: str) -> list[str]:
    """The locked requirements with their hashes, as arguments of the installer."""
    _uv("export", "--frozen", "--no-emit-project", *choice, "--quiet", "--output-file", str(path))
    return ["--require-hashes", "--only-binary", ":all:", "--requirements", str(path)]


def _install(target: Path, what: Sequence[str]) -> None:
    _uv(
        *("pip", "install", "--quiet", "--no-deps", "--link-mode", "copy"),
        *("--python", sys.executable, "--target", str(target), *what),
    )


def _wheel(scratch: Path) -> Path:
    """The wheel of the product, built with the locked builder."""
    builder = scratch / "builder"
    _install(builder, _exported(scratch / "build.txt", "--only-group", "build"))
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    _run([*command, "--directory", str(scratch)], {"PYTHONPATH": str(builder)})
    (wheel,) = scratch.glob("*.whl")
    return wheel


def _remove_traces(library: Path) -> None:
    """Remove what the installer noted, from its lists of files too."""
    (library / ".lock").unlink(missing_ok=True)
    for record in sorted(library.glob("*.dist-info/RECORD")):
        for trace in _TRACES:
            (record.parent / trace).unlink(missing_ok=True)
        lines = record.read_text().splitlines(keepends=True)
        kept = [line for line in lines if (library / line.partition(",")[0]).exists()]
        record.write_text("".join(kept))


def _write_scripts(folder: Path, scripts: dict[str, str]) -> None:
    """The commands. They find the library beside them, wherever the tree is.

    With -I neither variables nor the working directory decide which modules are loaded.
    """
    folder.mkdir()
    for name, target in sorted(scripts.items()):
        module, _, function = target.partition(":")
        (folder / name).write_text(_SCRIPT.format(module=module, function=function))


def _bill_of_materials() -> str:
    """What is in the image, in CycloneDX, from the lock. Its number follows from its content."""
    text = _uv("export", "--frozen", "--no-dev", "--format", "cyclonedx1.5", "--quiet")
    bill: dict[str, Any] = json.loads(text)
    bill.pop("serialNumber")
    bill["metadata"].pop("timestamp")
    content = json.dumps(bill, sort_keys=True)
    bill["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}"
    return json.dumps(bill, sort_keys=True, indent=1) + "\n"


def _compile(application: Path) -> None:
    """Compile all modules, since the tree is read-only where it runs.

    A compiled module has a hash instead of a time, which is not compared at run time. One process
    compiles all in order: what it compiled before can show in the bytes.
    """
    command = [sys.executable, "-I", "-S", "-m", "compileall", "-q"]
    names = ["-s", str(application.parents[1]), "-p", "/"]
    mode = ["--invalidation-mode", "unchecked-hash"]
    _run([*command, *names, *mode, str(application / "lib")], {})


def _normalize(application: Path) -> None:
    """Set modes and times, which otherwise depend on the builder."""
    for path in (*_files(application), *_folders(application)):
        is_command = path.is_dir() or path.parent == application / "bin"
        path.chmod(0o755 if is_command else 0o644)
        os.utime(path, (EPOCH, EPOCH))


def _files(application: Path) -> Iterator[Path]:
    return (path for path in sorted(application.rglob("*")) if path.is_file())


def _folders(application: Path) -> list[Path]:
    """The folders, each after its content: a change of a file changes the time of its folder."""
    inside = [path for path in application.rglob("*") if path.is_dir()]
    return [*sorted(inside, reverse=True), application]


def _uv(*arguments: str) -> str:
    return _run([str(UV), *arguments], {})


def _run(command: Sequence[str], more: dict[str, str]) -> str:
    """The output of a command. The output of one that fails ends the build."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(EPOCH)} | more
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"the image was not built: {' '.join(command)}:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
