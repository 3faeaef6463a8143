"""What a program needs to talk to a server."""

import base64
import json
from collections.abc import Mapping, Sequence
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

    def inline(self) -> str:
        """A kubeconfig that needs no other file, for an access with a token."""
        trust = base64.b64encode(self.authority.read_bytes()).decode()
        cluster = {"server": self.url, "certificate-authority-data": trust}
        return _text([_entries("peer", cluster, {"token": self.token})], "peer")

    @property
    def _user(self) -> dict[str, str]:
        if self.token:
            return {"token": self.token}
        return {"client-certificate": str(self.certificate), "client-key": str(self.key)}

    @property
    def _cluster(self) -> dict[str, str]:
        return {"server": self.url, "certificate-authority": str(self.authority)}

    def entries(self, name: str) -> Entries:
        """The cluster, the user and the context of that name."""
        return _entries(name, self._cluster, self._user)


def write_kubeconfig(path: Path, accesses: Mapping[str, Access]) -> Path:
    """A kubeconfig with a context for each; the first is the current one."""
    entries = [access.entries(name) for name, access in accesses.items()]
    path.touch(0o600)
    path.write_text(_text(entries, next(iter(accesses))), encoding="utf-8")
    return path


def _entries(name: str, cluster: dict[str, str], user: dict[str, str]) -> Entries:
    return {
        "clusters": {"name": name, "cluster": cluster},
        "users": {"name": name, "user": user},
        "contexts": {"name": name, "context": {"cluster": name, "user": name}},
    }


def _text(entries: Sequence[Entries], current: str) -> str:
    """JSON is YAML as well."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        **{kind: [each[kind] for each in entries] for kind in ("clusters", "users", "contexts")},
        "current-context": current,
    }
    return json.dumps(document, indent=1)
