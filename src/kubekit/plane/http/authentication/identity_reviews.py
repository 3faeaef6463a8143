"""Registers the identity reviews of a mounted plane, for all users that the server authenticates."""

from functools import partial

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.authentication.authenticator import Authenticator
from kubekit.plane.identity import virtual_handlers
from kubekit.plane.identity.service_accounts import ServiceAccounts, issuer_of
from kubekit.plane.registry.registry import Registry


def answer(
    authenticator: Authenticator, prefix: str, registry: Registry, environment: ExecutionEnvironment
) -> None:
    """Register the handlers in the plane below a path, and accept its service accounts."""
    accounts = ServiceAccounts(registry, authenticator.key, issuer_of(prefix), environment)
    authenticator.add(accounts)
    virtual_handlers.register(
        accounts, partial(authenticator.authenticate_token, registry=registry), environment
    )
