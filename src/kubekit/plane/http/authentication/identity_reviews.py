"""The answers of a plane that is served: it knows everybody whom the server lets in."""

from functools import partial

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.authentication.authenticator import Authenticator
from kubekit.plane.identity import answers
from kubekit.plane.identity.accounts import ServiceAccounts, issuer_of
from kubekit.plane.registry.registry import Registry


def answer(
    authenticator: Authenticator, prefix: str, registry: Registry, environment: ExecutionEnvironment
) -> None:
    """Let the plane below a path answer who somebody is, and let its service accounts in."""
    accounts = ServiceAccounts(registry, authenticator.key, issuer_of(prefix), environment)
    authenticator.add(accounts)
    answers.answer(accounts, partial(authenticator.speaks, registry=registry), environment)
