"""Our manifests as an operator uses them: overlays with settings of a site, built by kubectl."""

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

Document = dict[str, Any]
ROOT = Path(__file__).parents[3]
_LIMIT = 120  # seconds for one kubectl


class Rejected(Exception):
    """kubectl did not build or apply something. Has what it printed."""


@dataclass(frozen=True, slots=True)
class Site:
    """A kustomization that builds on ours: what an operator writes."""

    resources: Sequence[str]
    """Folders below config/, such as overlays/cell."""
    components: Sequence[str] = ()
    config: Document | None = None
    """The manager's configuration, in place of that of the overlay."""
    patches: Sequence[Document] = field(default_factory=tuple)

    def write(self, folder: Path, root: Path = ROOT) -> Path:
        """The kustomization in a folder of its own. ``root`` is the checkout with config/."""
        folder.mkdir(parents=True)

        def paths(names: Iterable[str]) -> list[str]:
            return [os.path.relpath(root / "config" / name, folder.resolve()) for name in names]

        document: Document = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": paths(self.resources),
            "components": paths(f"components/{name}" for name in self.components),
            "patches": [{"patch": yaml.safe_dump(patch)} for patch in self.patches],
        }
        if self.config is not None:
            (folder / "config.yaml").write_text(yaml.safe_dump(self.config), encoding="utf-8")
            document["configMapGenerator"] = [
                {
                    "name": "compute-manager-config",
                    "namespace": "compute-system",
                    "behavior": "replace",
                    "files": ["config.yaml"],
                }
            ]
        (folder / "kustomization.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
        return folder


@dataclass(frozen=True, slots=True)
class Kustomize:
    """kubectl, which builds manifests and applies them."""

    kubectl: Path
    home: Path

    def build(self, folder: Path) -> list[Document]:
        """Every object that a kustomization makes."""
        text = self._run(["kustomize", str(folder)])
        return [document for document in yaml.safe_load_all(text) if document]

    def apply(self, kubeconfig: Path, documents: Iterable[Document]) -> str:
        """Server-side, with strict validation: an unknown field or a warning of one is a failure."""
        arguments = ["apply", "--server-side", "--validate=strict", "-f", "-"]
        return self._run(arguments, yaml.safe_dump_all(documents), {"KUBECONFIG": str(kubeconfig)})

    def _run(
        self, arguments: Sequence[str], text: str = "", more: Mapping[str, str] | None = None
    ) -> str:
        known = {"PATH": os.environ["PATH"], "HOME": str(self.home), **(more or {})}
        done = subprocess.run(
            [str(self.kubectl), *arguments],
            env=known,
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT,
        )
        if done.returncode:
            raise Rejected(f"kubectl {' '.join(arguments)}: {done.stderr}")
        return done.stdout


def named(documents: Iterable[Document], kind: str) -> dict[str, Document]:
    """The objects of a kind, by name."""
    return {each["metadata"]["name"]: each for each in documents if each["kind"] == kind}
