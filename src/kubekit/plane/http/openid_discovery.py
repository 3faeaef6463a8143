"""OpenID Connect discovery: other services get the key that verifies a plane's tokens.

The URL of the keys uses the host name of the request, so the page must not be cached for others.
"""

import msgspec

from kubekit.plane.http.messages import JSON, Response, ServerRequest
from kubekit.plane.identity.service_accounts import issuer_of
from kubekit.plane.identity.web_tokens import SigningKey


def answer(request: ServerRequest, key: SigningKey) -> Response | None:
    """The page at a path of a plane, or None where there is none."""
    match request.path:
        case "/.well-known/openid-configuration":
            return Response(200, _configuration(request), JSON)
        case "/openid/v1/jwks":
            keys = msgspec.json.encode({"keys": [key.jwk]})
            return Response(200, keys, "application/jwk-set+json")
        case _:
            return None


def _configuration(request: ServerRequest) -> bytes:
    url = f"https://{request.headers.get('host', 'localhost')}{request.prefix}"
    return msgspec.json.encode(
        {
            "issuer": issuer_of(request.prefix),
            "jwks_uri": f"{url}/openid/v1/jwks",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
        }
    )
