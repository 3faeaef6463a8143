"""Registers the virtual kinds about identity in a plane: token requests, token and self reviews."""

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.identity.service_accounts import ACCOUNTS, ServiceAccounts, issuer_of
from kubekit.plane.identity.token_requests import TokenRequests
from kubekit.plane.identity.token_reviews import (
    REVIEWS_OF_TOKENS,
    SELF_SUBJECT_REVIEWS,
    AuthenticateToken,
    SelfReviews,
    TokenReviews,
)
from kubekit.plane.identity.web_tokens import SigningKey
from kubekit.plane.registry.registry import Registry


def register(
    accounts: ServiceAccounts,
    authenticate_token: AuthenticateToken,
    environment: ExecutionEnvironment,
) -> None:
    """Register them in the plane of these accounts. ``authenticate_token`` is for token reviews."""
    handlers = accounts.registry.virtual_handlers
    handlers[ACCOUNTS, "token"] = TokenRequests(accounts, environment).answer
    handlers[REVIEWS_OF_TOKENS, ""] = TokenReviews(authenticate_token, accounts.issuer).answer
    handlers[SELF_SUBJECT_REVIEWS, ""] = SelfReviews(environment.now).answer


def register_standalone(registry: Registry, environment: ExecutionEnvironment) -> None:
    """Register them in a plane without a server, whose tokens are invalid once it is closed."""
    accounts = ServiceAccounts(registry, SigningKey.generate(), issuer_of("/"), environment)
    register(accounts, accounts.authenticate_token, environment)
