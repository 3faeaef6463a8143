"""The certificate of a server in a Secret, which is read once a minute and never by a handshake."""

import asyncio
import base64
import binascii
import logging
import ssl
from dataclasses import dataclass
from typing import Final

from kubekit.api.errors import ApiError, NotFound
from kubekit.api.kinds.core import Secret
from kubekit.client.client import Client
from kubekit.runtime.serving.tls import (
    CERTIFICATE,
    KEY,
    LoadedCertificate,
    PemFiles,
    TlsRefused,
    load_certificate,
)

_READ_INTERVAL: Final = 60.0  # seconds

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretLocation:
    """A Secret and the keys of its data. The right to get this one Secret is enough."""

    namespace: str
    name: str
    certificate: str = CERTIFICATE
    key: str = KEY
    client_authority: str = ""

    def __str__(self) -> str:
        return f"Secret {self.namespace}/{self.name}"


class TlsSecret:
    """The certificate in a Secret. ``load`` makes it; ``run`` keeps it current, beside the server."""

    def __init__(self, client: Client, location: SecretLocation, pem: PemFiles) -> None:
        self._client = client
        self._location = location
        self._pem = pem
        self._loaded = load_certificate(pem, str(location))
        self._problem = ""

    @classmethod
    async def load(cls, client: Client, location: SecretLocation) -> "TlsSecret":
        """Read the Secret. It raises `TlsRefused` if no certificate in it can serve."""
        return cls(client, location, await _read(client, location))

    def context(self) -> ssl.SSLContext:
        return self._loaded.context

    @property
    def certificate(self) -> LoadedCertificate:
        return self._loaded

    async def run(self) -> None:
        """Read the Secret again once a minute, until cancelled."""
        while True:
            await asyncio.sleep(_READ_INTERVAL)
            try:
                await self._refresh()
            except TlsRefused as problem:
                self._report(str(problem))
            else:
                self._problem = ""

    async def _refresh(self) -> None:
        pem = await _read(self._client, self._location)
        if pem == self._pem:
            return
        self._loaded = load_certificate(pem, str(self._location))
        self._pem = pem
        _log.info(
            "loaded a new certificate",
            extra={"source": str(self._location), "until": str(self._loaded.not_after)},
        )

    def _report(self, problem: str) -> None:
        if problem != self._problem:
            _log.warning("keeping the last certificate", extra={"why": problem})
        self._problem = problem


async def _read(client: Client, location: SecretLocation) -> PemFiles:
    try:
        secret = await client.get(Secret, location.name, location.namespace)
    except NotFound as problem:
        message = f"{location}: it does not exist; create it, for example with cert-manager"
        raise TlsRefused(message) from problem
    except ApiError as problem:
        raise TlsRefused(f"{location}: cannot be read: {problem.message}") from problem
    authority = location.client_authority
    return PemFiles(
        _value(secret, location, location.certificate),
        _value(secret, location, location.key),
        _value(secret, location, authority) if authority else None,
    )


def _value(secret: Secret, location: SecretLocation, key: str) -> bytes:
    try:
        return base64.b64decode(secret.data[key], validate=True)
    except KeyError as problem:
        raise TlsRefused(f"{location}: data has no key {key}") from problem
    except binascii.Error as problem:
        raise TlsRefused(f"{location}: data[{key}] is not base64") from problem
