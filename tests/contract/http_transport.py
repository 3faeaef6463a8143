"""The product's HTTP transport, to a server that a test or the environment names.

JSON is written with the standard library, which also writes what JSON does not have (NaN, lone
surrogates): a test can send such a document and see what the server says.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import msgspec

from kubekit.api.errors import ApiError
from kubekit.api.status import Status
from kubekit.client.connection import ClientCertificate, Connection
from kubekit.client.http.calls import RequestSender
from kubekit.client.http.exchanges import HttpResponse
from kubekit.client.http.requests import HttpRequest
from kubekit.client.http.transport import DEFAULT, HttpTransport as ProductTransport
from kubekit.environment import ExecutionEnvironment


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server, its authority, and the credentials for it."""

    url: str
    authority: Path | None = None
    token: str = ""
    certificate: ClientCertificate | None = None


class HttpTransport(ProductTransport):
    """A transport over a socket, which also sends what the product would refuse to send.

    A refusal in JSON must be a whole Status; some answer a path that leads nowhere with a line of
    text.
    """

    def __init__(self, address: Address) -> None:
        authority = address.authority.read_bytes() if address.authority else None
        shown = _Shown(address.token, address.certificate)
        connection = Connection(server=address.url, authority=authority, credentials=shown)
        super().__init__(connection, environment())
        self._caller = _Strict(connection, environment(), DEFAULT)

    def encoded(self, value: object) -> bytes:
        return json.dumps(value).encode()


class _Strict(RequestSender):
    def refusal(self, answer: HttpResponse, request: HttpRequest) -> ApiError:
        if answer.header(b"content-type").startswith(b"application/json"):
            status = msgspec.json.decode(answer.body, type=Status)
            assert (status.status, status.code) == ("Failure", answer.status)
            assert status.message
        return super().refusal(answer, request)


@dataclass(frozen=True, slots=True)
class _Shown:
    token: str
    client: ClientCertificate | None

    async def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def certificate(self) -> ClientCertificate | None:
        return self.client

    async def renew(self) -> bool:
        return False


def environment() -> ExecutionEnvironment:
    # TLS compares certificates with the machine's clock.
    return ExecutionEnvironment(lambda: datetime.now(UTC), Random(4))  # noqa: TID251 - for that reason


def named(variables: Mapping[str, str]) -> Address:
    """The server that CONTRACT_SERVER and its companions name."""
    authority = variables.get("CONTRACT_CA")
    certificate = None
    if "CONTRACT_CERT" in variables:
        files = (variables["CONTRACT_CERT"], variables["CONTRACT_KEY"])
        certificate = ClientCertificate(*(Path(file).read_bytes() for file in files))
    return Address(
        variables["CONTRACT_SERVER"],
        Path(authority) if authority else None,
        variables.get("CONTRACT_TOKEN", ""),
        certificate,
    )
