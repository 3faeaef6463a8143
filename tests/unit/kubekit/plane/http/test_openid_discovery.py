"""How others find the key that tokens are checked with."""

import msgspec
import pytest

from kubekit.plane.http import openid_discovery
from kubekit.plane.http.messages import ServerRequest
from kubekit.plane.identity.service_accounts import issuer_of
from kubekit.plane.identity.web_tokens import SigningKey

KEY = SigningKey.generate()


def page(path: str, prefix: str = ""):
    request = ServerRequest("GET", path, headers={"host": "plane.test:7443"}, prefix=prefix)
    response = openid_discovery.answer(request, KEY)
    assert response is not None
    assert isinstance(response.body, bytes)
    return response.content_type, msgspec.json.decode(response.body)


@pytest.mark.parametrize("prefix", ["", "/p/a"])
def test_the_configuration_leads_to_the_keys(prefix):
    """It says whose tokens they check, and where they are by the name it was asked by."""
    kind, document = page("/.well-known/openid-configuration", prefix)
    assert kind == "application/json"
    assert document == {
        "issuer": issuer_of(prefix),
        "jwks_uri": f"https://plane.test:7443{prefix}/openid/v1/jwks",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    }


def test_the_keys_are_published():
    """Only what is public of them."""
    kind, document = page("/openid/v1/jwks")
    assert kind == "application/jwk-set+json"
    assert document == {"keys": [KEY.jwk]}
    assert "d" not in KEY.jwk


@pytest.mark.parametrize("path", ["/openid/v1", "/.well-known", "/openid/v1/jwks/x", "/openid/v2"])
def test_there_are_no_other_pages(path):
    """What is not known is for others to answer."""
    assert openid_discovery.answer(ServerRequest("GET", path), KEY) is None


def test_each_plane_of_a_server_has_an_issuer_of_its_own():
    """However its path is written."""
    assert issuer_of("/") == issuer_of("") == "https://plane.compute.datumapis.com"
    assert issuer_of("/p/a") == issuer_of("/p/a/") != issuer_of("/p/b")
