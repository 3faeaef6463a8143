"""Servers of a process on loopback ports, plain and over TLS, and certificates in files."""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.serving.http_server import HttpServer, ServingSettings
from kubekit.runtime.serving.messages import Handler
from kubekit.runtime.serving.request_parser import ServingLimits
from kubekit.runtime.serving.tls import ServerTls
from tests.support.kubekit.http_builders import Peer, connected

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
_BIRTH = datetime(2020, 1, 1, tzinfo=UTC)  # TLS compares with the machine's own clock
LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}


def at_noon(now: datetime = NOW) -> ExecutionEnvironment:
    return ExecutionEnvironment(now=lambda: now, chance=Random(1))


@dataclass(frozen=True)
class TestAuthority:
    """An authority that signs certificates of servers and clients."""

    __test__ = False

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def new(cls) -> "TestAuthority":
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("authority")
        basic = x509.BasicConstraints(ca=True, path_length=None)
        builder = _builder(name, key, _BIRTH + timedelta(days=365 * 50)).issuer_name(name)
        signed = builder.add_extension(basic, critical=True).sign(key, hashes.SHA256())
        return cls(key, signed)

    @property
    def pem(self) -> bytes:
        return _pem(self.certificate)

    def issue(
        self, name: str, until: datetime = _BIRTH + timedelta(days=365 * 40)
    ) -> tuple[bytes, bytes]:
        """A certificate for localhost and its key, both as PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        hosts = x509.SubjectAlternativeName([x509.DNSName("localhost")])
        builder = _builder(_name(name), key, until).issuer_name(self.certificate.subject)
        signed = builder.add_extension(hosts, critical=False).sign(self.key, hashes.SHA256())
        return _pem(signed), key_pem(key)

    def trusting(self, client: tuple[bytes, bytes] | None = None) -> ssl.SSLContext:
        """The context of a client that trusts this authority, with a certificate or without."""
        context = ssl.create_default_context(cadata=self.pem.decode())
        if client is not None:
            descriptor = os.memfd_create("client")
            os.write(descriptor, client[0] + client[1])
            context.load_cert_chain(f"/proc/self/fd/{descriptor}")
            os.close(descriptor)
        return context


def anyone() -> ssl.SSLContext:
    """The context of a client that accepts every certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def key_pem(key: ec.EllipticCurvePrivateKey, password: bytes = b"") -> bytes:
    sealing: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password:
        sealing = serialization.BestAvailableEncryption(password)
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, sealing)


def mounted(directory: Path, name: str, pair: tuple[bytes, bytes], **more: bytes) -> None:
    """Put a pair into a folder as the kubelet mounts a Secret: links into a folder that is swapped."""
    version = directory / f"..{name}"
    version.mkdir(parents=True)
    contents = {"tls.crt": pair[0], "tls.key": pair[1]}
    contents |= {file.replace("_", "."): content for file, content in more.items()}
    for file, content in contents.items():
        (version / file).write_bytes(content)
        if not (directory / file).is_symlink():
            (directory / file).symlink_to(Path("..data") / file)
    swapped = directory / "..data_new"
    swapped.symlink_to(version.name)
    swapped.rename(directory / "..data")


@asynccontextmanager
async def http_server(
    handler: Handler, limits: ServingLimits | None = None, tls: ServerTls | None = None
) -> AsyncIterator[HttpServer]:
    server = HttpServer("test", handler, ServingSettings(limits=limits or ServingLimits(), tls=tls))
    await server.start()
    try:
        yield server
    finally:
        await server.close(0.5)


@asynccontextmanager
async def peer_of(server: HttpServer, context: ssl.SSLContext | None = None) -> AsyncIterator[Peer]:
    async with connected(server.address.port, context) as peer:
        yield peer


def run_on(loop: str, story: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(story)


def _builder(
    name: x509.Name, key: ec.EllipticCurvePrivateKey, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_BIRTH)
        .not_valid_after(until)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
