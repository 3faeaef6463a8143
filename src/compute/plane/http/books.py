"""All documents about one set of kinds, each made when it is first asked for and kept as bytes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any, Final

import msgspec

from compute.plane.http import discovery, openapi, openapi_protobuf, openapi_v2
from compute.plane.http.discovery import Generation
from compute.plane.http.operations import root_of
from compute.plane.registry.kinds import Kind

Document = dict[str, Any]
Maker = Callable[[], Document]
_PROTOBUF: Final = "/openapi/v2 protobuf"
_SETS_KEPT: Final = 64


@dataclass(frozen=True, slots=True)
class Page:
    """A document and what tells it from its other versions."""

    body: bytes
    hash: str


class Book:
    """The documents about one set of kinds."""

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        self._kinds = kinds
        self._pages: dict[str, Page] = {}
        self._versions: dict[str, list[Kind]] = {}
        for kind in kinds:
            self._versions.setdefault(root_of(kind).removeprefix("/"), []).append(kind)
        self._makers = dict(self._discovery()) | dict(self._openapi())

    def page(self, path: str) -> Page | None:
        """The document at a path, if there is one."""
        make = self._makers.get(path)
        return None if make is None else self._made(path, make)

    def aggregated(self, path: str, generation: Generation) -> Page:
        """All of /api or /apis in one document."""
        core = path == "/api"
        make = partial(discovery.aggregated, self._kinds, core=core, generation=generation)
        return self._made(f"{path} {generation}", make)

    def protobuf(self) -> Page:
        """OpenAPI v2 in the form that kubectl reads."""
        page = self._pages.get(_PROTOBUF)
        if page is None:
            document = openapi_v2.document(self._kinds)
            page = self._pages[_PROTOBUF] = _page(openapi_protobuf.encode(document))
        return page

    def _made(self, key: str, make: Maker) -> Page:
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

    def _openapi(self) -> Iterator[tuple[str, Maker]]:
        yield "/openapi/v2", partial(openapi_v2.document, self._kinds)
        yield "/openapi/v3", self._index
        for root, members in self._versions.items():
            yield f"/openapi/v3/{root}", partial(openapi.document, members)

    def _index(self) -> Document:
        return openapi.index(
            {
                root: self._made(f"/openapi/v3/{root}", partial(openapi.document, members)).hash
                for root, members in self._versions.items()
            }
        )


@lru_cache(maxsize=_SETS_KEPT)
def book_of(kinds: tuple[Kind, ...]) -> Book:
    """The book of these kinds. Planes with the same kinds share it."""
    return Book(kinds)


def _page(body: bytes) -> Page:
    return Page(body, sha256(body).hexdigest().upper())
