"""The entries of a kubeconfig file, as they are written. Unknown fields are ignored."""

from typing import Any

import msgspec


class _Entry(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """An entry whose keys are written with hyphens."""


class NamedEntry(msgspec.Struct, frozen=True, kw_only=True):
    name: str = ""


class Extension(NamedEntry, frozen=True, kw_only=True):
    extension: Any = None


class ClusterEntry(_Entry, frozen=True, kw_only=True):
    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: tuple[Extension, ...] = ()


class Variable(msgspec.Struct, frozen=True, kw_only=True):
    name: str = ""
    value: str = ""

    def __repr__(self) -> str:
        """The name only: the value may be secret."""
        return f"Variable({self.name!r})"


class ExecEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[Variable, ...] = ()
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""

    def __repr__(self) -> str:
        """The command only: arguments and variables may hold secrets."""
        return f"Exec({self.command!r})"


class UserEntry(_Entry, frozen=True, kw_only=True):
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    as_: str = msgspec.field(default="", name="as")
    as_uid: str = ""
    as_groups: tuple[str, ...] = ()
    as_user_extra: dict[str, tuple[str, ...]] = {}
    auth_provider: Any = None
    exec: ExecEntry | None = None

    def __repr__(self) -> str:
        """The class only: almost all fields are secret."""
        return "User()"


class ContextEntry(_Entry, frozen=True, kw_only=True):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class NamedCluster(NamedEntry, frozen=True, kw_only=True):
    cluster: ClusterEntry = ClusterEntry()


class NamedUser(NamedEntry, frozen=True, kw_only=True):
    user: UserEntry = UserEntry()


class NamedContext(NamedEntry, frozen=True, kw_only=True):
    context: ContextEntry = ContextEntry()


class KubeconfigFile(_Entry, frozen=True, kw_only=True):
    """A whole file."""

    api_version: str = msgspec.field(default="", name="apiVersion")
    kind: str = ""
    clusters: tuple[NamedCluster, ...] = ()
    users: tuple[NamedUser, ...] = ()
    contexts: tuple[NamedContext, ...] = ()
    current_context: str = ""
