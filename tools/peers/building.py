"""From a module proxy to a binary: wrap, download, build, ask it for its version, rename."""

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tools.peers import catalog, wrappers
from tools.peers.catalog import Binary, Source
from tools.peers.commands import Command, Failed, Runner, Say
from tools.peers.wrappers import Wrapper

# Flags of the caller would change what is built; a workspace of the caller would include our modules.
SETTINGS = {"GOFLAGS": "-mod=mod -buildvcs=false", "CGO_ENABLED": "0", "GOWORK": "off"}
_GIGA = 1 << 30
_MEGA = 1 << 20


@dataclass(frozen=True, slots=True)
class Go:
    """The Go that is on the PATH."""

    path: str
    version: tuple[int, ...]
    fetches: bool
    """Whether it may get a newer one of itself where a module asks for it."""
    caches: tuple[Path, ...]


class Builder:
    """Builds binaries into one folder."""

    def __init__(self, folder: Path, runner: Runner, go: Go, say: Say) -> None:
        self._folder = folder
        self._runner = runner
        self._go = go
        self._say = say

    def build(self, binaries: Sequence[Binary], report: Say) -> None:
        """Make them one after the other; each is kept as soon as it is whole."""
        for name in ("bin", "files", "log", "work"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        for source, group in groupby(binaries, key=lambda binary: binary.source):
            several = list(group)
            report(source.name)
            self._download(source, several)
            self._keep_files(source)
            for binary in several:
                report(binary.name)
                self._make(binary)

    def _download(self, source: Source, binaries: Sequence[Binary]) -> None:
        start = time.monotonic()
        work = self._work(source)
        self._wrap(source, work)
        packages = [binary.package for binary in binaries]
        listed = self._run(source.name, "downloading", work, ["list", "-deps", *packages])
        count = len(listed.splitlines())
        self._say(f"{source.name} {source.version}: {count} packages there after {_since(start)}")

    def _wrap(self, source: Source, work: Path) -> None:
        """Write the wrapper anew: what an interrupted try has left may be half of one."""
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        wrapper = wrappers.plain(source)
        if source.copied:
            wrapper = wrappers.copied(source, self._original(source, work))
        (work / "go.mod").write_text(wrapper.go_mod, encoding="utf-8")
        (work / "go.sum").write_text(wrapper.go_sum, encoding="utf-8")

    def _original(self, source: Source, work: Path) -> Wrapper:
        """The go.mod and the go.sum of the module itself."""
        module = self._module(source, work)
        files = [module / name for name in ("go.mod", "go.sum")]
        return Wrapper(*(file.read_text(encoding="utf-8") for file in files))

    def _keep_files(self, source: Source) -> None:
        """Copy what the programs need beside them, under the names of the files alone."""
        kept = catalog.files(source, self._folder)
        if not source.files or kept.is_dir():
            return
        unready = self._folder / "work" / f"{source.name}.files"
        shutil.rmtree(unready, ignore_errors=True)
        unready.mkdir()
        module = self._module(source, self._work(source))
        for pattern in source.files:
            found = sorted(module.glob(pattern))
            if not found:
                raise Failed(f"{source.name} {source.version} has no {pattern}")
            for file in found:
                (unready / file.name).write_bytes(file.read_bytes())
        unready.rename(kept)

    def _module(self, source: Source, work: Path) -> Path:
        """Where go keeps the module."""
        arguments = ["mod", "download", "-json", f"{source.module}@{source.version}"]
        return Path(json.loads(self._run(source.name, "downloading", work, arguments))["Dir"])

    def _make(self, binary: Binary) -> None:
        if (self._folder / "bin" / binary.name).is_file():  # it lacked only the files beside it
            return
        start = time.monotonic()
        unready = self._folder / "work" / f"{binary.name}.unready"
        unready.unlink(missing_ok=True)  # go writes over no file that is not whole
        stamps = " ".join(["-s", "-w", *(f"-X {stamp}" for stamp in binary.source.stamps)])
        arguments = ["build", "-v", "-ldflags", stamps, "-o", str(unready), binary.package]
        self._run(binary.name, "building", self._work(binary.source), arguments)
        self._prove(binary, unready)
        size = unready.stat().st_size / _MEGA
        unready.rename(self._folder / "bin" / binary.name)
        self._say(f"{binary.name}: built in {_since(start)}, {size:.0f} MB")

    def _prove(self, binary: Binary, path: Path) -> None:
        """See that it runs, and that it is what it is meant to be."""
        command = Command(
            binary.name, [str(path), *binary.ask], self._folder, self._log(binary.name)
        )
        output = self._runner.output(command)
        if binary.source.version.removeprefix("v") not in output:
            raise Failed(f"{binary.name} says that it is {output.strip()[:200]}")

    def _run(self, name: str, doing: str, cwd: Path, arguments: Sequence[str]) -> str:
        progress = {
            "downloading": "downloading, {seconds} s, {lines} modules",
            "building": "building, {seconds} s, {lines} packages compiled",
        }[doing]
        command = Command(name, [self._go.path, *arguments], cwd, self._log(name), progress)
        return self._runner.output(command)

    def _work(self, source: Source) -> Path:
        return self._folder / "work" / source.name

    def _log(self, name: str) -> Path:
        return self._folder / "log" / f"{name}.log"


def find_go(runner: Runner, folder: Path, environment: Mapping[str, str]) -> Go | None:
    """The Go of the PATH, if there is one."""
    path = shutil.which("go", path=environment.get("PATH"))
    if path is None:
        return None
    (folder / "log").mkdir(parents=True, exist_ok=True)
    names = ("GOVERSION", "GOTOOLCHAIN", "GOMODCACHE", "GOCACHE")
    arguments = [path, "env", "-json", *names]
    settings = json.loads(
        runner.output(Command("go env", arguments, folder, folder / "log" / "go.log"))
    )
    return Go(
        path,
        _version(settings["GOVERSION"]),
        fetches=settings["GOTOOLCHAIN"] not in {"local", "path"},
        caches=(Path(settings["GOMODCACHE"]), Path(settings["GOCACHE"])),
    )


def _version(arguments: str) -> tuple[int, ...]:
    """The numbers of ``go1.24.10``. One that was built by hand has none, and counts as new."""
    numbers = re.match(r"go(\d+)\.(\d+)(?:\.(\d+))?", arguments)
    return tuple(int(number or 0) for number in numbers.groups()) if numbers else (sys.maxsize,)


def shortage(go: Go, folder: Path, binaries: Sequence[Binary]) -> str:
    """A warning if a disk may be too small for what an empty cache would take; else nothing."""
    needed = sum({binary.source: binary.source.gigabytes for binary in binaries}.values())
    for path in (folder, *go.caches):
        free = shutil.disk_usage(_existing(path)).free / _GIGA
        if free < needed:
            return f"{free:.1f} GB are free for {path}; {needed:.1f} may be needed"
    return ""


def _existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())


def _since(start: float) -> str:
    return f"{time.monotonic() - start:.0f} s"


def environment(given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The caller's environment with what decides over a build set by us."""
    return {**given, **SETTINGS}
