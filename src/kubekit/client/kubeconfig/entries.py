"""The entries of a kubeconfig file, as they are written. What is not known is passed over."""

from typing import Any

import msgspec


class _Entry(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """Keys with hyphens, as most of them are."""


class Named(msgspec.Struct, frozen=True, kw_only=True):
    name: str = ""


class Extension(Named, frozen=True, kw_only=True):
    extension: Any = None


class Cluster(_Entry, frozen=True, kw_only=True):
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
        """No more than the name: the value may be secret."""
        return f"Variable({self.name!r})"


class Exec(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[Variable, ...] = ()
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""

    def __repr__(self) -> str:
        """No more than the command: arguments and variables may hold secrets."""
        return f"Exec({self.command!r})"


class User(_Entry, frozen=True, kw_only=True):
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
    exec: Exec | None = None

    def __repr__(self) -> str:
        """No more than that it is one: almost all it holds is secret."""
        return "User()"


class Context(_Entry, frozen=True, kw_only=True):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class NamedCluster(Named, frozen=True, kw_only=True):
    cluster: Cluster = Cluster()


class NamedUser(Named, frozen=True, kw_only=True):
    user: User = User()


class NamedContext(Named, frozen=True, kw_only=True):
    context: Context = Context()


class File(_Entry, frozen=True, kw_only=True):
    """A whole file."""

    api_version: str = msgspec.field(default="", name="apiVersion")
    kind: str = ""
    clusters: tuple[NamedCluster, ...] = ()
    users: tuple[NamedUser, ...] = ()
    contexts: tuple[NamedContext, ...] = ()
    current_context: str = ""
