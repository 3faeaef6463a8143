"""Where a container's values and files come from. Shared by Instances and Pods; shapes of core/v1."""

from typing import Annotated

from kubekit.api.wire import ATOMIC_LIST, ATOMIC_MAP, Int32, RawQuantity, Rule, Wire

OptionalName = Annotated[str, Rule(default="")]


class KeySelector(Wire, frozen=True, kw_only=True):
    """One key of a ConfigMap or Secret in the same namespace."""

    key: str
    """The key to select."""
    name: OptionalName = ""
    """The name of the ConfigMap or Secret."""
    optional: bool | None = None
    """Whether the object or its key may be missing."""


class FieldRef(Wire, frozen=True, kw_only=True):
    """One field of the object itself."""

    api_version: str = ""
    """The version of the schema that the path is written in."""
    field_path: str
    """The path of the field."""


class ResourceFieldRef(Wire, frozen=True, kw_only=True):
    """One resource of a container, as a number."""

    container_name: str = ""
    """The container whose resource is meant."""
    divisor: RawQuantity = 0
    """The unit of the number; 1 when absent."""
    resource: str
    """The resource to select, such as limits.cpu."""


class EnvVarSource(Wire, frozen=True, kw_only=True):
    """Where the value of a variable comes from. One of these is set."""

    config_map_key_ref: Annotated[KeySelector | None, ATOMIC_MAP] = None
    """A key of a ConfigMap."""
    field_ref: Annotated[FieldRef | None, ATOMIC_MAP] = None
    """A field of the object itself."""
    resource_field_ref: Annotated[ResourceFieldRef | None, ATOMIC_MAP] = None
    """A resource of a container."""
    secret_key_ref: Annotated[KeySelector | None, ATOMIC_MAP] = None
    """A key of a Secret."""


class EnvVar(Wire, frozen=True, kw_only=True):
    """One environment variable."""

    name: str
    """The name of the variable."""
    value: str = ""
    """Its value, unless it comes from elsewhere."""
    value_from: EnvVarSource | None = None
    """Where the value comes from; not together with a value."""


class KeyToPath(Wire, frozen=True, kw_only=True):
    """One key, as one file."""

    key: str
    """The key to project."""
    mode: Int32 | None = None
    """The file's mode bits; the volume's default when absent."""
    path: str
    """Where the file lies within the volume, relative and without `..`."""


class ConfigMapVolumeSource(Wire, frozen=True, kw_only=True):
    """The keys of a ConfigMap, as files."""

    default_mode: Int32 | None = None
    """Mode bits of files that name none."""
    items: Annotated[tuple[KeyToPath, ...], ATOMIC_LIST] = ()
    """Which keys become which files; all of them when empty."""
    name: OptionalName = ""
    """The name of the ConfigMap."""
    optional: bool | None = None
    """Whether the ConfigMap or its keys may be missing."""


class SecretVolumeSource(Wire, frozen=True, kw_only=True):
    """The keys of a Secret, as files."""

    default_mode: Int32 | None = None
    """Mode bits of files that name none."""
    items: Annotated[tuple[KeyToPath, ...], ATOMIC_LIST] = ()
    """Which keys become which files; all of them when empty."""
    optional: bool | None = None
    """Whether the Secret or its keys may be missing."""
    secret_name: str = ""
    """The name of the Secret."""
