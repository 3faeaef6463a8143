"""Make the private environment in ``.venv``: everything in the lock, nothing else.

Runs on the standard library alone, since it is what installs the rest. The lock decides every
version and every hash, that of the installer included.
"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
HOME = VENV / ".home"
INSTALLER_ONLY = "--installer"
# Errors of a registry, or of the network, that go away by themselves.
PASSES = re.compile(
    r"\b(?:429|50[0234])\b|too many requests|time[d ]*-?out|reset by peer", re.IGNORECASE
)
PAUSES = (2, 5, 15, 40, 60)  # seconds; package registries sometimes answer "too many requests"


def main() -> int:
    """Set up, or say in one sentence why not. With --installer it stops after the installer."""
    if importlib.util.find_spec("ensurepip") is None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return _fail(f"this Python has no venv: install the package python{version}-venv")
    print("Setting up .venv (once; a minute at most on a quick line)", flush=True)
    made = _make_venv() or _install_uv()
    return made if INSTALLER_ONLY in sys.argv else made or _sync()


def _make_venv() -> int:
    """An environment of this checkout's own; one that was left half made, or moved, is not."""
    if (VENV / "bin" / "pip").exists() and _home() == str(ROOT) and _installed_python():
        return 0
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=False)
    if made.returncode:
        return _fail(f"could not make {VENV}; see the lines above")
    HOME.write_text(str(ROOT))
    return 0


def _home() -> str:
    """The checkout that the environment was made for: its scripts name it by its full path."""
    return HOME.read_text() if HOME.exists() else ""


def _installed_python() -> bool:
    """Whether the Python that the environment was made with is still there."""
    python = VENV / "bin" / "python"
    return subprocess.run([str(python), "-c", ""], capture_output=True, check=False).returncode == 0


def _install_uv() -> int:
    package = _locked("uv")
    if _installed_uv() == package["version"]:
        return 0
    hashes = " ".join(f"--hash={wheel['hash']}" for wheel in package["wheels"])
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirements:
        requirements.write(f"uv=={package['version']} {hashes}\n")
        requirements.flush()
        pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-input"]
        pip += ["--disable-pip-version-check", "--only-binary", ":all:", "--require-hashes"]
        return _retried("install uv", [*pip, "-r", requirements.name])


def _sync() -> int:
    uv = [str(VENV / "bin" / "uv"), "sync", "--frozen", "--no-progress", "--quiet"]
    return _retried("install the locked packages", [*uv, "--no-python-downloads"])


def _retried(what: str, command: Sequence[str]) -> int:
    """Run the command until it succeeds, for as long as its error is one that goes away by itself."""
    done = _attempt(command)
    for pause in PAUSES:
        if done.returncode == 0 or not PASSES.search(done.stderr):
            break
        print(f"could not {what}; trying again in {pause} s", file=sys.stderr, flush=True)
        time.sleep(pause)  # noqa: TID251 - a script of its own, with no clock to inject
        done = _attempt(command)
    if done.returncode == 0:
        return 0
    print(done.stderr.strip(), file=sys.stderr)
    return _fail(f"could not {what}; see the lines above, then run the same command again")


def _attempt(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    ours = {"UV_PROJECT_ENVIRONMENT": str(VENV), "VIRTUAL_ENV": str(VENV), "PIP_USER": "0"}
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | ours, capture_output=True, text=True, check=False
    )


def _locked(name: str) -> dict[str, Any]:
    packages: list[dict[str, Any]] = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    return next(package for package in packages if package["name"] == name)


def _installed_uv() -> str | None:
    uv = VENV / "bin" / "uv"
    if not uv.exists():
        return None
    version = subprocess.run([str(uv), "--version"], capture_output=True, text=True, check=False)
    return version.stdout.split()[1] if version.returncode == 0 else None


def _fail(sentence: str) -> int:
    print(f"set-up stopped: {sentence}.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(_fail("interrupted"))
