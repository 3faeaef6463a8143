"""The front of a server: its address, its certificates, who is let in, and who wrote what."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from kubekit.environment import Environment
from kubekit.plane.access.request_check import Rbac
from kubekit.plane.http.audit.audit_log import Audit, AuditFile
from kubekit.plane.http.authentication.bearer_tokens import Tokens, write_private
from kubekit.plane.http.certificates.authority import Certificates
from kubekit.plane.http.hostnames import names_for
from kubekit.plane.http.interfaces import Seams
from kubekit.plane.http.pages import Pages
from kubekit.plane.http.server import Server
from kubekit.plane.identity.web_tokens import SigningKey
from kubekit.plane.users import User

_ADMIN: Final = User("admin", ("system:masters",))


class FolderServer:
    """A server out of a folder, for whoever mounts planes on it.

    ``token`` is that of the administrator, ``tokens`` are all that are accepted, ``authority`` is
    what clients trust; ``figures`` are shown beside the server's own.
    """

    def __init__(
        self,
        data: Path,
        address: tuple[str, int],
        environment: Environment,
        figures: Callable[[], bytes] = bytes,
    ) -> None:
        tokens = Tokens(data / "tokens.json", environment)
        certificates = Certificates(data / "pki", environment.now(), names_for(address[0]))
        signing = SigningKey.at(data / "accounts.key")
        self.tokens = tokens
        self.token = self.admit(_ADMIN, data / "token")
        self.authority = certificates.authority.read_bytes()
        self._audit = Audit(AuditFile(data / "audit.log"), asyncio.get_running_loop())
        site = Pages(self._audit, signing, figures)
        seams = Seams(site=site, access=Rbac(), signing=signing, audit=self._audit)
        self.server = Server(address, certificates, tokens, environment, seams)

    def admit(self, user: User, file: Path) -> str:
        """The token of a user, which is kept in a file. Without the file it is a new one."""
        token = file.read_text(errors="replace").strip() if file.exists() else ""
        if self.tokens.user_of(f"Bearer {token}") != user:
            self.tokens.revoke(user.name)
            token = self.tokens.issue(user)
        write_private(file, f"{token}\n".encode())
        return token

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Requests are answered until this ends."""
        await self.server.start()
        try:
            yield
        finally:
            await self.server.close()

    async def close(self) -> None:
        """Write the last lines of who did what: after this nothing may be stored any more."""
        await self._audit.close()
