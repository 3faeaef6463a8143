"""The server of one or several planes, with its credentials and its audit log in one directory."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.audit.audit_log import Audit, AuditFile
from kubekit.plane.http.authentication.bearer_tokens import Tokens
from kubekit.plane.http.certificates.authority import Certificates
from kubekit.plane.http.hostnames import names_for
from kubekit.plane.http.interfaces import RbacCheck, ServerOptions
from kubekit.plane.http.pages import Pages
from kubekit.plane.http.server import Server, is_loopback
from kubekit.plane.identity.web_tokens import SigningKey
from kubekit.plane.plane import Plane
from kubekit.plane.private_files import write_private
from kubekit.plane.users import MASTERS, User

_ADMIN: Final = User("admin", (MASTERS,))


class PlaneServer:
    """Serves the mounted planes over HTTPS. Files that do not exist yet are created.

    ``token`` is the administrator's token, ``tokens`` are all accepted ones, and ``authority`` is
    the CA certificate that clients trust. ``metrics`` renders further metrics for ``/metrics``.
    """

    def __init__(
        self,
        data: Path,
        address: tuple[str, int],
        environment: ExecutionEnvironment,
        metrics: Callable[[], bytes] = bytes,
    ) -> None:
        tokens = Tokens(data / "tokens.json", environment)
        certificates = Certificates(data / "pki", environment.now(), names_for(address[0]))
        signing = SigningKey.at(data / "accounts.key")
        self.tokens = tokens
        self.token = self.ensure_token(_ADMIN, data / "token")
        self.authority = certificates.authority.read_bytes()
        self._audit = Audit(AuditFile(data / "audit.log"), asyncio.get_running_loop())
        site = Pages(self._audit, signing, metrics)
        options = ServerOptions(site=site, access=RbacCheck(), signing=signing, audit=self._audit)
        self._host = address[0]
        self._server = Server(address, certificates, tokens, environment, options)

    @property
    def port(self) -> int:
        return self._server.port

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def loopback_only(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self._host)

    def mount(self, prefix: str, plane: Plane) -> None:
        """Serve a plane below a path."""
        self._server.mount(prefix, plane)

    def unmount(self, prefix: str) -> None:
        """Stop serving a plane. Its watches end; requests in flight are answered."""
        self._server.unmount(prefix)

    def ensure_token(self, user: User, file: Path) -> str:
        """The token of a user, from a file. A new token is issued if the file is missing or outdated."""
        token = file.read_text(errors="replace").strip() if file.exists() else ""
        if self.tokens.user_of(f"Bearer {token}") != user:
            self.tokens.revoke(user.name)
            token = self.tokens.issue(user)
        write_private(file, f"{token}\n".encode())
        return token

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Serve requests inside the block."""
        await self._server.start()
        try:
            yield
        finally:
            await self._server.close()

    async def close(self) -> None:
        """Flush and close the audit log. Close the planes first."""
        await self._audit.close()
