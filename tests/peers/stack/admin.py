"""A client with every right: documents of any kind, at any path."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from compute.app.system_environment import system
from kubekit.api.errors import AlreadyExists, ApiError
from kubekit.client.http.transport import HttpTransport
from kubekit.client.kubeconfig import load

Document = dict[str, Any]
MERGE = "application/merge-patch+json"
_APPLY = "application/apply-patch+yaml"
_PAUSE = 0.1  # seconds between two reads
MANAGER = {"fieldManager": "kubectl", "force": "true"}


class Admin:
    """A client of one API server. Create it on a running loop, and use it as a context."""

    def __init__(self, kubeconfig: Path) -> None:
        environment = system()
        self.transport = HttpTransport(load(environment, [kubeconfig]), environment)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.transport.close()

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> Document:
        return _read(await self.transport.call("GET", path, query or {}))

    async def create(self, path: str, document: Document) -> Document:
        """The object, which may be there already."""
        try:
            body = await self.transport.call("POST", path, body=_encoded(document))
        except AlreadyExists:
            return await self.get(f"{path}/{document['metadata']['name']}")
        return _read(body)

    async def apply(self, path: str, document: Document) -> Document:
        """The object after a server-side apply, as kubectl does it."""
        path = f"{path}/{document['metadata']['name']}"
        body = _encoded(document)
        return _read(await self.transport.call("PATCH", path, MANAGER, body, _APPLY))

    async def merge(self, path: str, patch: Document) -> Document:
        return _read(await self.transport.call("PATCH", path, {}, _encoded(patch), MERGE))

    async def delete(self, path: str) -> None:
        await self.transport.call("DELETE", path)

    async def token(self, account: str, namespace: str, seconds: int = 86_400) -> str:
        """A token of a service account, which exists."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "metadata": {"name": account},
            "spec": {"expirationSeconds": seconds},
        }
        body = await self.transport.call("POST", path, body=_encoded(request))
        token: str = _read(body)["status"]["token"]
        return token

    async def until_allowed(self, spec: Document, seconds: float = 60.0) -> None:
        """Wait until a SubjectAccessReview allows this: the server learns of roles in a moment."""
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": spec,
        }
        async with asyncio.timeout(seconds):
            while True:
                answer = _read(await self.transport.call("POST", path, body=_encoded(review)))
                if answer["status"]["allowed"]:
                    return
                await asyncio.sleep(_PAUSE)

    async def until(
        self, path: str, check: Callable[[Document], bool], seconds: float = 60.0
    ) -> Document:
        """What is at the path, once the check is true of it."""
        last: object = None
        try:
            async with asyncio.timeout(seconds):
                while True:
                    try:
                        last = document = await self.get(path)
                        if check(document):
                            return document
                    except ApiError as error:
                        last = error
                    await asyncio.sleep(_PAUSE)
        except TimeoutError:
            raise AssertionError(f"{path} after {seconds:g} s: {last}") from None


def is_true(condition: str, document: Document) -> bool:
    """Whether an object has this condition, and it is True."""
    conditions: Iterable[Document] = document.get("status", {}).get("conditions") or ()
    return any(each["type"] == condition and each["status"] == "True" for each in conditions)


def _encoded(document: Document) -> bytes:
    return json.dumps(document).encode()


def _read(body: bytes) -> Document:
    document: Document = json.loads(body)
    return document
