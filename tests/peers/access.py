"""What a program needs to talk to a server."""

import json
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
        """A kubeconfig. JSON is YAML as well."""
        cluster = {"server": self.url, "certificate-authority": str(self.authority)}
        user = {"token": self.token} if self.token else {}
        if self.certificate and self.key:
            user = {"client-certificate": str(self.certificate), "client-key": str(self.key)}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "peer", "cluster": cluster}],
            "users": [{"name": "peer", "user": user}],
            "contexts": [{"name": "peer", "context": {"cluster": "peer", "user": "peer"}}],
            "current-context": "peer",
        }
        path.touch(0o600)
        path.write_text(json.dumps(document, indent=1), encoding="utf-8")
        return path
