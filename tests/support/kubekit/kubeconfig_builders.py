"""Kubeconfig files, plugins and certificates for tests."""

import base64
import json
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from cryptography.hazmat.primitives import serialization

from kubekit.client.connection import ClientCertificate
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.certificates.issuing import (
    CertificatePair,
    new_authority,
    new_client,
    new_server,
)
from kubekit.plane.users import User

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECRET = "s3cr3t-in-plain-sight"
V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"


@dataclass
class Clock:
    """A clock that a test moves by hand."""

    now: datetime = NOW
    environment: ExecutionEnvironment = field(init=False)

    def __post_init__(self) -> None:
        self.environment = ExecutionEnvironment(now=lambda: self.now, chance=Random(1))

    def pass_(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def environment() -> ExecutionEnvironment:
    return Clock().environment


def config(
    cluster: dict[str, Any] | None = None,
    user: dict[str, Any] | None = None,
    context: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A kubeconfig with one context ``x`` of the cluster ``c`` and the user ``u``."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "c", "cluster": {"server": "https://plane.test:6443"} | (cluster or {})}
        ],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"} | (context or {})}],
        "current-context": "x",
    }


def written(folder: Path, document: object, name: str = "config") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


@cache
def authority() -> CertificatePair:
    return new_authority(datetime.now(UTC))  # noqa: TID251 - OpenSSL looks at the real clock


def authority_pem() -> bytes:
    return authority().certificate_pem()


@cache
def server_pair() -> ClientCertificate:
    now = datetime.now(UTC)  # noqa: TID251 - OpenSSL looks at the real clock
    return _pem(new_server(authority(), ["localhost", "127.0.0.1"], now))


@cache
def client_pair(name: str = "jo") -> ClientCertificate:
    now = datetime.now(UTC)  # noqa: TID251 - OpenSSL looks at the real clock
    return _pem(new_client(authority(), User(name=name), now, timedelta(days=1)))


def encrypted(pair: ClientCertificate) -> ClientCertificate:
    key = serialization.load_pem_private_key(pair.key, None)
    locked = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"password"),
    )
    return ClientCertificate(pair.certificate, locked)


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def pair_data(pair: ClientCertificate) -> dict[str, str]:
    return {
        "client-certificate-data": b64(pair.certificate),
        "client-key-data": b64(pair.key),
    }


def plugin(folder: Path, body: str, name: str = "plugin") -> Path:
    """A credential plugin: a Python script that counts its runs and may call ``answer(token=...)``."""
    path, code = folder / name, folder / f"{name}.py"
    code.write_text(f"{_PLUGIN}{body}\n")
    # By a shell: the path of the interpreter may hold a blank, which a first line cannot.
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{code}" "$@"\n')
    path.chmod(0o755)
    return path


def runs(folder: Path) -> int:
    """How often the plugin of the folder was started."""
    log = folder / "runs"
    return len(log.read_text()) if log.exists() else 0


_PLUGIN = f"""
import json, os, pathlib, subprocess, sys
here = pathlib.Path(sys.argv[0]).parent
with (here / "runs").open("a") as log:
    log.write(".")
count = len((here / "runs").read_text())
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
def answer(version="{V1}", **status):
    print(json.dumps(dict(apiVersion=version, kind="ExecCredential", status=status)))
"""


def _pem(pair: CertificatePair) -> ClientCertificate:
    return ClientCertificate(pair.certificate_pem(), pair.key_pem())
