"""The client of an API server: typed objects above a transport of JSON documents.

    Client            get, list, watch, create, patch, apply and delete objects as their classes
    HttpClient        the client of a server reached over HTTP
    HttpSettings      timeouts, retries and limits of that client
    Transport         the protocol that sends requests as JSON documents, without classes
    Connection        the address of a server, and the credentials to use there
    load_kubeconfig   the connection of a context in kubeconfig files
    Misconfigured     the error for settings that do not describe a connection
    ListOptions       selectors, page size and version of a list
    WatchOptions      selectors and start of a watch
    WriteOptions      field manager, dry run and validation of a write
    DeleteOptions     preconditions and propagation of a delete
    follow            a list followed by watches, repeated as often as needed

Start reading with `transport`, the protocol, and `client`, the typed client above it. `list_watch` is
the reflector below every informer. `http` implements the protocol over a socket, `kubeconfig` reads
connections from files, and `kubekit.plane` has the transport to a plane in the same process.

Inside of a pod, `kubekit.client.in_cluster` makes the connection. A name is imported when it is first
used, because a command that needs the options only should not load TLS and YAML.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kubekit.client.client import Client
    from kubekit.client.connection import Connection, Misconfigured
    from kubekit.client.http.client import HttpClient
    from kubekit.client.http.settings import HttpSettings
    from kubekit.client.kubeconfig import load as load_kubeconfig
    from kubekit.client.list_watch import follow
    from kubekit.client.options import DeleteOptions, ListOptions, WatchOptions, WriteOptions
    from kubekit.client.transport import Transport
else:
    _SOURCES: Final = {
        "Client": ("client", "Client"),
        "Connection": ("connection", "Connection"),
        "DeleteOptions": ("options", "DeleteOptions"),
        "HttpClient": ("http.client", "HttpClient"),
        "HttpSettings": ("http.settings", "HttpSettings"),
        "ListOptions": ("options", "ListOptions"),
        "Misconfigured": ("connection", "Misconfigured"),
        "Transport": ("transport", "Transport"),
        "WatchOptions": ("options", "WatchOptions"),
        "WriteOptions": ("options", "WriteOptions"),
        "follow": ("list_watch", "follow"),
        "load_kubeconfig": ("kubeconfig", "load"),
    }

    def __getattr__(name: str) -> object:
        if name not in _SOURCES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module, attribute = _SOURCES[name]
        return getattr(import_module(f"{__name__}.{module}"), attribute)


__all__ = [
    "Client",
    "Connection",
    "DeleteOptions",
    "HttpClient",
    "HttpSettings",
    "ListOptions",
    "Misconfigured",
    "Transport",
    "WatchOptions",
    "WriteOptions",
    "follow",
    "load_kubeconfig",
]
