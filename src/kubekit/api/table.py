"""meta.k8s.io/v1: Table, the response to a client that prints objects without knowing their kind."""

from typing import Any, ClassVar, Literal

import msgspec

from kubekit.api.meta import ListMeta
from kubekit.api.resource import Resource
from kubekit.api.wire import Wire, always


class TableColumn(Wire, frozen=True, kw_only=True):
    """One column; ``priority`` above zero means wide output only."""

    name: str
    type: str
    format: str = always("")
    description: str = always("")
    priority: int = always(0)


class TableRow(Wire, frozen=True, kw_only=True):
    """One object: a cell for each column, and the object or its metadata."""

    cells: tuple[Any, ...] = always(())
    object: dict[str, Any] | None = None


class Table(Wire, frozen=True, kw_only=True):
    """Objects as rows of text."""

    RESOURCE: ClassVar[Resource] = Resource(
        group="meta.k8s.io", version="v1", kind="Table", plural="tables", namespaced=False
    )

    api_version: Literal["meta.k8s.io/v1"] = always("meta.k8s.io/v1")
    kind: Literal["Table"] = always("Table")
    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
    column_definitions: tuple[TableColumn, ...] = always(())
    rows: tuple[TableRow, ...] = always(())
