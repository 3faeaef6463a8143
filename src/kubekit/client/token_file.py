"""A bearer token in a file, as a pod has one."""

import asyncio
import logging
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kubekit.client.connection import NoCredentials
from kubekit.client.credentials import WithoutCertificate, bearer, token_in

TOKEN_LIFE: Final = 50.0  # seconds; as client-go, a minute less some leeway
_REREAD_AFTER: Final = 10.0  # seconds; for a file that could not be read

_log: Final = logging.getLogger(__name__)


class TokenFile(WithoutCertificate):
    """A bearer token in a file, read again every minute and after a 401.

    ``otherwise`` is the token to use while the file has none.
    """

    def __init__(self, path: Path, otherwise: str = "", life: float = TOKEN_LIFE) -> None:
        self._path = path
        self._token = otherwise
        self._life = life
        self._read_at = -math.inf
        self._replaced_at = math.inf

    def __repr__(self) -> str:
        return f"TokenFile({str(self._path)!r})"

    async def headers(self) -> Mapping[str, str]:
        now = asyncio.get_running_loop().time()
        if now >= self._read_at:
            self._read(now)
        return bearer(self._token)

    async def renew(self) -> bool:
        """Whether there is a new token: another call may have read it while this one was refused."""
        now = asyncio.get_running_loop().time()
        self._read(now)
        return 0 <= now - self._replaced_at < self._life

    def _read(self, now: float) -> None:
        try:
            token = token_in(self._path)
        except NoCredentials as error:
            if not self._token:
                raise
            _log.warning("keeping the last token", extra={"problem": str(error)})
            self._read_at = now + min(self._life, _REREAD_AFTER)
            return
        if self._token and self._token != token:
            self._replaced_at = now
        self._token = token
        self._read_at = now + self._life
