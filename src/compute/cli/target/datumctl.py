"""The credentials of a plugin of datumctl: its helper prints a token whenever it is asked."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kubekit.client.connection import ClientCertificate, NoCredentials

_TIMEOUT: Final = 60.0  # seconds; the helper may have to renew a session


@dataclass
class CredentialsHelper:
    """Runs the helper before the first request, and again after a 401."""

    helper: str
    session: str = ""
    _token: str = ""

    async def headers(self) -> Mapping[str, str]:
        if not self._token:
            self._token = await self._ask()
        return {"Authorization": f"Bearer {self._token}"}

    def certificate(self) -> ClientCertificate | None:
        return None

    async def renew(self) -> bool:
        earlier, self._token = self._token, await self._ask()
        return self._token != earlier

    @property
    def _command(self) -> Sequence[str]:
        return (
            self.helper,
            "auth",
            "get-token",
            *(["--session", self.session] * bool(self.session)),
        )

    async def _ask(self) -> str:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise NoCredentials(
                f"the credentials helper {self.helper} cannot be run: {error.strerror}; "
                "sign in with: datumctl auth login"
            ) from error
        try:
            output, errors = await asyncio.wait_for(process.communicate(), _TIMEOUT)
        except TimeoutError as error:
            process.kill()
            await process.wait()
            raise NoCredentials(
                f"the credentials helper gave no token in {_TIMEOUT:g} s"
            ) from error
        token = output.decode(errors="replace").strip()
        if process.returncode or not token:
            problem = " ".join(errors.decode(errors="replace").split()) or "it printed no token"
            raise NoCredentials(
                f"the credentials helper failed: {problem}; sign in with: datumctl auth login"
            )
        return token
