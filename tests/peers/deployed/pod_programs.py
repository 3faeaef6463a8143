"""A Pod of a Deployment as a program: its own arguments, environment and files, without a container.

What a node would do is done here, and no more: variables are expanded, ConfigMaps and Secrets
are mounted into a folder, and paths below a mount lead there. The Pod's address is loopback, which all
Pods share, so each port becomes a free one. The credential of its service account, which a program in a
Pod finds at a fixed path, is in the file that KUBECONFIG names.
"""

import base64
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from tests.peers.children import Program
from tests.peers.deployed.kustomizations import Document, named
from tests.peers.ports import free_ports

_REFERENCE = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
_BOUND = re.compile(r"^:(\d+)$")
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class PodPlace:
    """Where a Pod runs, and what it is given there."""

    name: str
    folder: Path
    kubeconfig: Path
    """Of its service account, for its own cluster."""
    objects: Iterable[Document]
    """The ConfigMaps and Secrets that it may mount."""
    code: Path
    """The checkout whose code it runs."""


@dataclass(slots=True)
class PodProgram:
    """The program of a Pod, and where it serves."""

    deployment: Document
    place: PodPlace
    ports: dict[int, int] = field(default_factory=dict)
    """The port on this machine of each port of the Pod."""

    def prepare(self) -> Program:
        """Write its files. What to start."""
        variables = self._variables()
        mounts = self._mount()

        def real(text: str) -> str:
            return self._here(_expanded(text, variables), mounts)

        words = [*self._container["command"], *self._container.get("args", ())]
        environment = {
            **{name: real(value) for name, value in variables.items()},
            "PATH": os.environ["PATH"],
            "HOME": str(self.place.folder),
            "KUBECONFIG": str(self.place.kubeconfig),
            "PYTHONPATH": str(self.place.code / "src"),
        }
        program = str(Path(sys.executable).with_name(words[0]))
        return Program(self.place.name, [program, *map(real, words[1:])], environment)

    def refresh(self, objects: Iterable[Document]) -> None:
        """Bring the files of Secrets up to date, as a kubelet does for a Pod that runs."""
        self.place = replace(self.place, objects=objects)
        volumes = {each["name"]: each for each in self._pod.get("volumes", ())}
        for mount in self._container.get("volumeMounts", ()):
            if "secret" not in volumes[mount["name"]]:
                continue
            folder = self.place.folder / mount["mountPath"].strip("/")
            for name, content in self._files(volumes[mount["name"]]):
                if (folder / name).read_bytes() != content:
                    (folder / f".{name}").write_bytes(content)
                    (folder / f".{name}").replace(folder / name)

    def url(self, probe: str) -> str:
        """The URL of a probe: readinessProbe or livenessProbe."""
        request = self._container[probe]["httpGet"]
        ports = {each["name"]: each["containerPort"] for each in self._container["ports"]}
        number = ports.get(request["port"], request["port"])
        return f"http://{_LOOPBACK}:{self.port(number)}{request['path']}"

    def port(self, number: int) -> int:
        """The port on this machine that stands for a port of the Pod."""
        if number not in self.ports:
            self.ports[number] = free_ports(1)[0]
        return self.ports[number]

    @property
    def _pod(self) -> Document:
        spec: Document = self.deployment["spec"]["template"]["spec"]
        return spec

    @property
    def _container(self) -> Document:
        (container,) = self._pod["containers"]
        return dict(container)

    def _variables(self) -> dict[str, str]:
        fields = {
            "metadata.name": self.place.name,
            "metadata.namespace": self.deployment["metadata"]["namespace"],
            "status.podIP": _LOOPBACK,
        }
        known: dict[str, str] = {}
        for each in self._container.get("env", ()):
            source = each.get("valueFrom")
            value = fields[source["fieldRef"]["fieldPath"]] if source else each.get("value", "")
            known[each["name"]] = _expanded(value, known)
        return known

    def _mount(self) -> dict[str, Path]:
        """The folder of each mount that has files."""
        volumes = {each["name"]: each for each in self._pod.get("volumes", ())}
        mounts = {}
        for mount in self._container.get("volumeMounts", ()):
            volume = volumes[mount["name"]]
            if "emptyDir" in volume:
                continue
            folder = mounts[mount["mountPath"]] = self.place.folder / mount["mountPath"].strip("/")
            folder.mkdir(parents=True)
            for name, content in self._files(volume):
                (folder / name).touch(0o600)
                (folder / name).write_bytes(content)
        for folder in mounts.values():
            for file in folder.glob("config.yaml"):
                self._localize(file, mounts)
        return mounts

    def _files(self, volume: Document) -> Iterator[tuple[str, bytes]]:
        if source := volume.get("configMap"):
            data = self._object("ConfigMap", source["name"], source).get("data", {})
            yield from ((key, text.encode()) for key, text in data.items())
        elif source := volume.get("secret"):
            data = self._object("Secret", source["secretName"], source).get("data", {})
            yield from ((key, base64.b64decode(text)) for key, text in data.items())
        else:
            raise LookupError(f"{self.place.name} mounts {volume}, which has no counterpart here")

    def _object(self, kind: str, name: str, source: Document) -> Document:
        found = named(self.place.objects, kind)
        if name not in found and not source.get("optional"):
            raise LookupError(f"{self.place.name} mounts the {kind} {name}, which is not there")
        return found.get(name, {})

    def _localize(self, file: Path, mounts: Mapping[str, Path]) -> None:
        """Have a configuration name the folders and the ports of this machine."""
        document = self._localized(yaml.safe_load(file.read_text(encoding="utf-8")), mounts)
        if server := document.get("webhookServer"):
            document["webhookServer"] = {
                **server,
                "host": _LOOPBACK,
                "port": self.port(server.get("port", 9443)),
            }
        file.write_text(yaml.safe_dump(document), encoding="utf-8")

    def _localized(self, value: Any, mounts: Mapping[str, Path]) -> Any:
        if isinstance(value, dict):
            return {key: self._localized(each, mounts) for key, each in value.items()}
        return self._here(value, mounts) if isinstance(value, str) else value

    def _here(self, text: str, mounts: Mapping[str, Path]) -> str:
        """A path or an address of the Pod, on this machine."""
        flag, equals, value = text.rpartition("=")
        if bound := _BOUND.match(value):
            return f"{flag}{equals}{_LOOPBACK}:{self.port(int(bound[1]))}"
        for path, folder in mounts.items():
            if value == path or value.startswith(f"{path}/"):
                return f"{flag}{equals}{folder}{value.removeprefix(path)}"
        return text


def _expanded(text: str, variables: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda found: variables.get(found[1], found[0]), text)
