"""What a program needs to talk to a server."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Access:
    """Where a server is, and the files or the token that let a program in."""

    url: str
    authority: Path
    certificate: Path | None = None
    key: Path | None = None
    token: str = ""

    def write(self, path: Path) -> Path:
        """A kubeconfig of its own."""
        return write_kubeconfig(path, {"peer": self})

    @property
    def _user(self) -> dict[str, str]:
        if self.token:
            return {"token": self.token}
        return {"client-certificate": str(self.certificate), "client-key": str(self.key)}

    @property
    def _cluster(self) -> dict[str, str]:
        return {"server": self.url, "certificate-authority": str(self.authority)}

    def entries(self, name: str) -> dict[str, dict[str, object]]:
        """The cluster, the user and the context of that name."""
        return {
            "clusters": {"name": name, "cluster": self._cluster},
            "users": {"name": name, "user": self._user},
            "contexts": {"name": name, "context": {"cluster": name, "user": name}},
        }


def write_kubeconfig(path: Path, accesses: Mapping[str, Access]) -> Path:
    """A kubeconfig with a context for each; the first is the current one. JSON is YAML as well."""
    entries = [access.entries(name) for name, access in accesses.items()]
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        **{kind: [each[kind] for each in entries] for kind in ("clusters", "users", "contexts")},
        "current-context": next(iter(accesses)),
    }
    path.touch(0o600)
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return path
