"""What a program needs to talk to a server."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

Entries = dict[str, dict[str, object]]


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

    @property
    def _inline_cluster(self) -> dict[str, str]:
        trust = base64.b64encode(self.authority.read_bytes()).decode()
        return {"server": self.url, "certificate-authority-data": trust}

    def entries(self, name: str, *, inline: bool = False) -> Entries:
        """The cluster, the user and the context of that name."""
        cluster = self._inline_cluster if inline else self._cluster
        return {
            "clusters": {"name": name, "cluster": cluster},
            "users": {"name": name, "user": self._user},
            "contexts": {"name": name, "context": {"cluster": name, "user": name}},
        }


def write_kubeconfig(path: Path, accesses: Mapping[str, Access]) -> Path:
    """A kubeconfig with a context for each; the first is the current one."""
    path.touch(0o600)
    path.write_text(_text(accesses, inline=False), encoding="utf-8")
    return path


def inline_kubeconfig(accesses: Mapping[str, Access]) -> str:
    """The same, for accesses with tokens: it needs no other file."""
    return _text(accesses, inline=True)


def _text(accesses: Mapping[str, Access], *, inline: bool) -> str:
    """JSON is YAML as well."""
    entries = [access.entries(name, inline=inline) for name, access in accesses.items()]
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        **{kind: [each[kind] for each in entries] for kind in ("clusters", "users", "contexts")},
        "current-context": next(iter(accesses)),
    }
    return json.dumps(document, indent=1)
