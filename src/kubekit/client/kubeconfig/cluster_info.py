"""The description of a server for a credential plugin that asks for it."""

import base64
from typing import Final

import msgspec

EXTENSION: Final = "client.authentication.k8s.io/exec"
"""The extension of the cluster that is passed to the plugin."""


class ClusterInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The server that credentials are for, passed to plugins that ask for it."""

    server: str
    server_name: str = ""
    insecure: bool = False
    authority: bytes | None = None
    proxy: str = ""
    compression: bool = True
    extension: object = None

    def document(self) -> dict[str, object]:
        """The cluster as plugins read it, without empty fields."""
        authority = base64.b64encode(self.authority).decode() if self.authority else ""
        fields = {
            "server": self.server,
            "tls-server-name": self.server_name,
            "insecure-skip-tls-verify": self.insecure,
            "certificate-authority-data": authority,
            "proxy-url": self.proxy,
            "disable-compression": not self.compression,
            "config": self.extension,
        }
        return {name: value for name, value in fields.items() if value}
