"""Kubernetes machinery in Python: API types, a client, a controller runtime and an embedded API server.

    Object                the base class of every kind                            kubekit.api
    ApiError              the base class of every refusal by an API server        kubekit.api
    Client                reads and writes objects of one API server              kubekit.client
    HttpClient            the client of a server reached over HTTP                kubekit.client
    compile_expression    a CEL expression, ready to be evaluated                 kubekit.cel
    Manager               runs controllers over the clusters of a provider        kubekit.runtime
    Controller            watches, queues requests and calls a reconciler         kubekit.runtime
    Reconciler            brings one object closer to its desired state           kubekit.runtime
    Request, Result       what to reconcile, and when to reconcile it again       kubekit.runtime
    ExecutionEnvironment  the clock and the source of randomness, handed in       kubekit.environment

The embedded API server is `kubekit.plane`. A name is imported when it is first used, because no
subpackage should load all the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kubekit.api.errors import ApiError
    from kubekit.api.meta import Object
    from kubekit.cel.programs import compile_expression
    from kubekit.client.client import Client
    from kubekit.client.http.client import HttpClient
    from kubekit.environment import ExecutionEnvironment
    from kubekit.runtime.controller import Controller
    from kubekit.runtime.manager import Manager
    from kubekit.runtime.requests import Reconciler, Request, Result
else:
    _MODULES: Final = {
        "ApiError": "api.errors",
        "Client": "client.client",
        "Controller": "runtime.controller",
        "ExecutionEnvironment": "environment",
        "HttpClient": "client.http.client",
        "Manager": "runtime.manager",
        "Object": "api.meta",
        "Reconciler": "runtime.requests",
        "Request": "runtime.requests",
        "Result": "runtime.requests",
        "compile_expression": "cel.programs",
    }

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


__all__ = [
    "ApiError",
    "Client",
    "Controller",
    "ExecutionEnvironment",
    "HttpClient",
    "Manager",
    "Object",
    "Reconciler",
    "Request",
    "Result",
    "compile_expression",
]
