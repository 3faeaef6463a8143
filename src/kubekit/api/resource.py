"""The description of a kind in discovery and in its CRD: names, scope, columns, subresources."""

from collections.abc import Mapping

import msgspec


class Column(msgspec.Struct, frozen=True):
    """One printer column. ``wide`` columns appear only with ``-o wide``."""

    name: str
    path: str
    type: str = "string"
    wide: bool = False


class Scale(msgspec.Struct, frozen=True):
    """The fields that the scale subresource reads and writes."""

    spec_path: str = ".spec.replicas"
    status_path: str = ".status.replicas"
    selector_path: str = ".status.selector"


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """The group, version, names and options of a kind."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    status: bool = False
    scale: Scale | None = None
    selectable_fields: tuple[str, ...] = ()
    annotations: Mapping[str, str] = msgspec.field(default_factory=dict)

    @property
    def api_version(self) -> str:
        """The group and version as manifests write them: ``v1`` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def singular(self) -> str:
        return self.kind.lower()

    @property
    def list_kind(self) -> str:
        return f"{self.kind}List"

    @property
    def crd_name(self) -> str:
        """The name of the CustomResourceDefinition that serves this kind."""
        return f"{self.plural}.{self.group}"


def condition_column(name: str, condition: str, part: str, *, wide: bool = False) -> Column:
    """A column that shows one part (status, reason or message) of one condition."""
    return Column(name, f'.status.conditions[?(@.type=="{condition}")].{part}', wide=wide)


def label_column(name: str, label: str) -> Column:
    """A column that shows the value of one label."""
    return Column(name, ".metadata.labels." + label.replace(".", r"\."))


AGE = Column("Age", ".metadata.creationTimestamp", "date")
