"""The Python client libraries for Kubernetes, each behind the same few methods.

Most have a blocking and an asyncio form, and both are used. A blocking client runs in a thread, so
that a watch continues during other requests.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import kr8s
import lightkube
import msgspec
from kr8s import asyncio as kr8s_asyncio
from kr8s._async_utils import as_sync_func
from kr8s.objects import new_class
from kubernetes import aio, config, dynamic
from kubernetes.aio import config as aio_config, dynamic as aio_dynamic
from kubernetes.aio.dynamic.exceptions import DynamicApiError as AioDynamicApiError
from kubernetes.dynamic.exceptions import DynamicApiError
from lightkube.config.kubeconfig import KubeConfig
from lightkube.generic_resource import create_namespaced_resource
from lightkube.types import PatchType

Document = dict[str, Any]
_MERGE = "application/merge-patch+json"
_APPLY = "application/apply-patch+yaml"
_END = object()
_SECONDS = 30  # the longest that a watch lasts


@dataclass(frozen=True)
class Sort:
    """A namespaced kind."""

    api_version: str
    kind: str
    plural: str


class Refused(Exception):
    """The server refused a request with a Status."""

    def __init__(self, status: Document) -> None:
        super().__init__(status["message"])
        self.status = status


class Library(Protocol):
    """A client of one kind in one namespace. Objects are plain documents."""

    async def create(self, manifest: Document) -> Document: ...

    async def get(self, name: str) -> Document: ...

    async def names(self) -> list[str]: ...

    async def merge(self, name: str, patch: Document) -> Document: ...

    async def apply(self, manifest: Document, manager: str, *, force: bool = ...) -> Document: ...

    async def report(self, name: str, status: Document) -> Document:
        """Write only the status of an object."""
        ...

    async def delete(self, name: str) -> None: ...

    def watch(self, since: str) -> AsyncGenerator[tuple[str, Document], None]: ...


Opening = Callable[[Path, str, Sort], AbstractAsyncContextManager[Library]]


class Kubernetes:
    """`kubernetes` by its dynamic client."""

    def __init__(self, resource: Any, namespace: str, *, blocks: bool) -> None:
        self._of, self._in, self._blocks = resource, {"namespace": namespace}, blocks

    async def create(self, manifest: Document) -> Document:
        return await self._ask(self._of.create, body=manifest)

    async def get(self, name: str) -> Document:
        return await self._ask(self._of.get, name=name)

    async def names(self) -> list[str]:
        return [one["metadata"]["name"] for one in (await self._ask(self._of.get))["items"]]

    async def merge(self, name: str, patch: Document) -> Document:
        return await self._ask(self._of.patch, name=name, body=patch, content_type=_MERGE)

    async def apply(self, manifest: Document, manager: str, *, force: bool = False) -> Document:
        return await self._ask(
            self._of.server_side_apply, body=manifest, field_manager=manager, force_conflicts=force
        )

    async def report(self, name: str, status: Document) -> Document:
        body = await self.get(name) | {"status": status}
        return await self._ask(self._of.status.replace, body=body)

    async def delete(self, name: str) -> None:
        await self._ask(self._of.delete, name=name)

    async def watch(self, since: str) -> AsyncGenerator[tuple[str, Document], None]:
        events = self._of.watch(resource_version=since, timeout=_SECONDS, **self._in)
        async with aclosing(_each(events)) as each:
            async for event in each:
                yield event["type"], event["raw_object"]

    async def _ask(self, method: Callable[..., Any], **said: Any) -> Document:
        try:
            answer = await _called(method, **said, **self._in, blocks=self._blocks)
        except (DynamicApiError, AioDynamicApiError) as error:
            raise Refused(msgspec.json.decode(error.body or "")) from error
        document: Document = answer.to_dict()
        return document


class KubernetesAsync(Kubernetes):
    """`kubernetes.aio`, whose watches are closed by hand."""

    async def watch(self, since: str) -> AsyncGenerator[tuple[str, Document], None]:
        said = {"resource_version": since, "timeout": _SECONDS}
        async with aio.watch.Watch() as watcher:
            async for event in self._of.watch(watcher=watcher, **said, **self._in):
                yield event["type"], event["raw_object"]


class Lightkube:
    """`lightkube` by a generic resource."""

    def __init__(self, client: Any, kind: Any, *, blocks: bool) -> None:
        self._client, self._kind, self._blocks = client, kind, blocks

    async def create(self, manifest: Document) -> Document:
        return await self._ask(self._client.create, self._kind.from_dict(manifest))

    async def get(self, name: str) -> Document:
        return await self._ask(self._client.get, self._kind, name)

    async def names(self) -> list[str]:
        return [one.metadata.name async for one in _each(self._client.list(self._kind))]

    async def merge(self, name: str, patch: Document) -> Document:
        patching = self._client.patch
        return await self._ask(patching, self._kind, name, patch, patch_type=PatchType.MERGE)

    async def apply(self, manifest: Document, manager: str, *, force: bool = False) -> Document:
        named = self._kind.from_dict(manifest)
        return await self._ask(self._client.apply, named, field_manager=manager, force=force)

    async def report(self, name: str, status: Document) -> Document:
        body = self._kind.Status.from_dict(await self.get(name) | {"status": status})
        return await self._ask(self._client.replace, body, name)

    async def delete(self, name: str) -> None:
        await self._ask(self._client.delete, self._kind, name)

    async def watch(self, since: str) -> AsyncGenerator[tuple[str, Document], None]:
        events = self._client.watch(self._kind, resource_version=since, server_timeout=_SECONDS)
        async with aclosing(_each(events)) as each:
            async for event, changed in each:
                yield event, changed.to_dict()

    async def _ask(self, method: Callable[..., Any], *about: Any, **said: Any) -> Document:
        try:
            answer = await _called(method, *about, **said, blocks=self._blocks)
        except lightkube.ApiError as error:
            raise Refused(error.response.json()) from error
        return {} if answer is None else answer.to_dict()


class Kr8s:
    """`kr8s` by a class of its own. It has no apply, so the request is made by hand, with asyncio."""

    def __init__(self, api: Any, kind: Any, namespace: str, *, blocks: bool) -> None:
        self._api, self._kind, self._namespace = api, kind, namespace
        self._blocks = blocks

    async def create(self, manifest: Document) -> Document:
        return await self._ask(self._object(manifest), "create")

    async def get(self, name: str) -> Document:
        return await self._ask(self._named(name), "refresh")

    async def names(self) -> list[str]:
        found = self._api.get(self._kind, namespace=self._namespace)
        return [one.name async for one in _each(found)]

    async def merge(self, name: str, patch: Document) -> Document:
        return await self._ask(self._named(name), "patch", patch)

    async def apply(self, manifest: Document, manager: str, *, force: bool = False) -> Document:
        with _errors_of_kr8s():
            async with self._api.call_api(
                "PATCH",
                version=self._kind.version,
                url=f"{self._kind.endpoint}/{manifest['metadata']['name']}",
                namespace=self._namespace,
                params={"fieldManager": manager, "force": str(force).lower()},
                headers={"Content-Type": _APPLY},
                content=msgspec.json.encode(manifest),
            ) as answer:
                document: Document = answer.json()
                return document

    async def report(self, name: str, status: Document) -> Document:
        return await self._ask(self._named(name), "patch", {"status": status}, subresource="status")

    async def delete(self, name: str) -> None:
        await self._ask(self._named(name), "delete")

    async def watch(self, since: str) -> AsyncGenerator[tuple[str, Document], None]:
        events = self._api.watch(self._kind, namespace=self._namespace, since=since)
        async with aclosing(_each(events)) as each:
            async for event, changed in each:
                yield event, changed.raw.to_dict()

    async def _ask(self, about: Any, method: str, *args: Any, **said: Any) -> Document:
        with _errors_of_kr8s():
            await _called(getattr(about, method), *args, **said, blocks=self._blocks)
        document: Document = about.raw.to_dict()
        return document

    def _named(self, name: str) -> Any:
        return self._object({"metadata": {"name": name, "namespace": self._namespace}})

    def _object(self, manifest: Document) -> Any:
        return self._kind(manifest, api=self._api)


@asynccontextmanager
async def kubernetes_sync(kubeconfig: Path, namespace: str, sort: Sort) -> AsyncIterator[Library]:
    with config.new_client_from_config(str(kubeconfig)) as connections:
        client = dynamic.DynamicClient(connections, cache_file=_cache(kubeconfig))
        found = client.resources.get(api_version=sort.api_version, kind=sort.kind)
        yield Kubernetes(found, namespace, blocks=True)


@asynccontextmanager
async def kubernetes_async(kubeconfig: Path, namespace: str, sort: Sort) -> AsyncIterator[Library]:
    async with await aio_config.new_client_from_config(str(kubeconfig)) as connections:
        client = await aio_dynamic.DynamicClient(connections, cache_file=_cache(kubeconfig))
        found = await client.resources.get(api_version=sort.api_version, kind=sort.kind)
        yield KubernetesAsync(found, namespace, blocks=False)


@asynccontextmanager
async def lightkube_sync(kubeconfig: Path, namespace: str, sort: Sort) -> AsyncIterator[Library]:
    known = KubeConfig.from_file(kubeconfig)
    with lightkube.Client(config=known, namespace=namespace) as client:
        yield Lightkube(client, _generic(sort), blocks=True)


@asynccontextmanager
async def lightkube_async(kubeconfig: Path, namespace: str, sort: Sort) -> AsyncIterator[Library]:
    known = KubeConfig.from_file(kubeconfig)
    async with lightkube.AsyncClient(config=known, namespace=namespace) as client:
        yield Lightkube(client, _generic(sort), blocks=False)


@asynccontextmanager
async def kr8s_sync(kubeconfig: Path, namespace: str, sort: Sort) -> AsyncIterator[Library]:
    api: Any = await asyncio.to_thread(kr8s.api, kubeconfig=str(kubeconfig))
    try:
        yield Kr8s(api, _described(sort, asyncio=False), namespace, blocks=True)
    finally:
        await asyncio.to_thread(as_sync_func(api._session.aclose))


@asynccontextmanager
async def kr8s_async(kubeconfig: Path, namespace: str, sort: Sort) -> AsyncIterator[Library]:
    api: Any = await kr8s_asyncio.api(kubeconfig=str(kubeconfig))
    try:
        yield Kr8s(api, _described(sort, asyncio=True), namespace, blocks=False)
    finally:
        await api._session.aclose()  # it has no word for it


LIBRARIES: dict[str, Opening] = {
    "kubernetes": kubernetes_sync,
    "kubernetes.aio": kubernetes_async,
    "lightkube": lightkube_sync,
    "lightkube async": lightkube_async,
    "kr8s": kr8s_sync,
    "kr8s.asyncio": kr8s_async,
}
APPLYING: dict[str, Opening] = {name: of for name, of in LIBRARIES.items() if name != "kr8s"}


def _cache(kubeconfig: Path) -> str:
    """A discovery cache of its own: otherwise servers on the same port would share one."""
    return str(kubeconfig.with_name("discovered.json"))


@cache
def _generic(sort: Sort) -> Any:
    group, _, version = sort.api_version.rpartition("/")
    return create_namespaced_resource(group, version, sort.kind, sort.plural)


def _described(sort: Sort, *, asyncio: bool) -> Any:
    return new_class(sort.kind, version=sort.api_version, plural=sort.plural, asyncio=asyncio)


async def _called(method: Callable[..., Any], *args: Any, blocks: bool, **said: Any) -> Any:
    if blocks:
        return await asyncio.to_thread(method, *args, **said)
    return await method(*args, **said)


async def _each(found: Any) -> AsyncGenerator[Any, None]:
    if hasattr(found, "__aiter__"):
        # A generator that is not closed would be closed by the collector, after its loop is gone.
        async with aclosing(aiter(found)) as each:
            async for one in each:
                yield one
        return
    rest: Iterator[Any] = iter(found)
    while (one := await asyncio.to_thread(next, rest, _END)) is not _END:
        yield one


@contextmanager
def _errors_of_kr8s() -> Iterator[None]:
    try:
        yield
    except kr8s.NotFoundError as error:
        raise _refused(error.__cause__) from error
    except kr8s.ServerError as error:
        raise _refused(error) from error


def _refused(error: Any) -> Refused:
    return Refused(error.status)
