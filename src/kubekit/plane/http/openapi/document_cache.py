"""The documents about one set of kinds, each created on first use and cached as bytes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any, Final

import msgspec

from kubekit.plane.http.openapi import discovery, openapi_v2, openapi_v2_protobuf, openapi_v3
from kubekit.plane.http.openapi.discovery import Generation
from kubekit.plane.http.openapi.operations import root_of
from kubekit.plane.registry.kinds import Kind

Document = dict[str, Any]
Maker = Callable[[], Document]
_PROTOBUF: Final = "/openapi/v2 protobuf"
_INDEX: Final = "/openapi/v3"
_SETS_KEPT: Final = 64
_VERSIONS_KEPT: Final = 512


@dataclass(frozen=True, slots=True)
class CachedDocument:
    """A document and its hash, which identifies the version."""

    body: bytes
    hash: str


class OpenAPICache:
    """The documents about one set of kinds."""

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        self._kinds = kinds
        self._pages: dict[str, CachedDocument] = {}
        self._versions: dict[str, list[Kind]] = {}
        for kind in kinds:
            self._versions.setdefault(root_of(kind).removeprefix("/"), []).append(kind)
        self._schemas = {f"{_INDEX}/{root}": tuple(of) for root, of in self._versions.items()}
        self._makers = dict(self._discovery())
        self._makers["/openapi/v2"] = partial(openapi_v2.document, kinds)

    def page(self, path: str, prefix: str = "") -> CachedDocument | None:
        """The document at a path, if there is one. ``prefix`` is where the plane is mounted."""
        if path == _INDEX:
            return self._made(f"{path} {prefix}", partial(self._index, prefix))
        if path in self._schemas:
            return _described(self._schemas[path])
        make = self._makers.get(path)
        return None if make is None else self._made(path, make)

    def aggregated(self, path: str, generation: Generation) -> CachedDocument:
        """All of /api or /apis in one document."""
        core = path == "/api"
        make = partial(discovery.aggregated, self._kinds, core=core, generation=generation)
        return self._made(f"{path} {generation}", make)

    def protobuf(self) -> CachedDocument:
        """OpenAPI v2 in the form that kubectl reads."""
        page = self._pages.get(_PROTOBUF)
        if page is None:
            document = openapi_v2.document(self._kinds)
            page = self._pages[_PROTOBUF] = _page(openapi_v2_protobuf.encode(document))
        return page

    def _made(self, key: str, make: Maker) -> CachedDocument:
        page = self._pages.get(key)
        if page is None:
            page = self._pages[key] = _page(msgspec.json.encode(make()))
        return page

    def _discovery(self) -> Iterator[tuple[str, Maker]]:
        kinds = self._kinds
        yield "/api", partial(discovery.api_versions, kinds)
        yield "/apis", partial(discovery.group_list, kinds)
        for name in {kind.resource.group for kind in kinds} - {""}:
            yield f"/apis/{name}", partial(discovery.group, kinds, name)
        for root, members in self._versions.items():
            yield f"/{root}", partial(discovery.resource_list, members)

    def _index(self, prefix: str) -> Document:
        hashes = {root: _described(tuple(of)).hash for root, of in self._versions.items()}
        return openapi_v3.index(hashes, prefix)


@lru_cache(maxsize=_SETS_KEPT)
def documents_of(kinds: tuple[Kind, ...]) -> OpenAPICache:
    """The documents of these kinds. Planes with the same kinds share them."""
    return OpenAPICache(kinds)


@lru_cache(maxsize=_VERSIONS_KEPT)
def _described(members: tuple[Kind, ...]) -> CachedDocument:
    """The schemas of one version of a group; they do not change with kinds of other groups."""
    return _page(msgspec.json.encode(openapi_v3.document(members)))


def _page(body: bytes) -> CachedDocument:
    return CachedDocument(body, sha256(body).hexdigest().upper())
