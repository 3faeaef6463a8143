"""The kubeconfig of a plane."""

import pytest
import yaml

from compute.app.kubeconfig import kubeconfig, reachable
from kubekit.plane.http.certificates.authority import ClientPair


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://127.0.0.1:7443", "https://127.0.0.1:7443"),
        ("https://0.0.0.0:7443", "https://127.0.0.1:7443"),
        ("https://[::]:7443", "https://[::1]:7443"),
        ("https://10.0.0.7:7443", "https://10.0.0.7:7443"),
        ("https://build.example.test:7443", "https://build.example.test:7443"),
    ],
)
def test_a_client_on_this_machine_finds_the_server(url, expected):
    """Every address is no address to connect to; the loopback is one of them."""
    assert reachable(url) == expected


def test_the_file_is_whole():
    """Server, CA and token are in it, and one context joins them."""
    config = yaml.safe_load(kubeconfig("https://127.0.0.1:1", b"CA", "secret"))
    cluster, user = config["clusters"][0], config["users"][0]
    context = config["contexts"][0]

    assert cluster["cluster"] == {
        "server": "https://127.0.0.1:1",
        "certificate-authority-data": "Q0E=",
    }
    assert user["user"] == {"token": "secret"}
    assert (context["context"]["cluster"], context["context"]["user"]) == (
        cluster["name"],
        user["name"],
    )
    assert config["current-context"] == context["name"]


def test_a_certificate_replaces_the_token():
    """Certificate and key are in the file, so that it can be moved."""
    config = yaml.safe_load(kubeconfig("https://127.0.0.1:1", b"CA", ClientPair(b"C", b"K")))

    assert config["users"][0]["user"] == {
        "client-certificate-data": "Qw==",
        "client-key-data": "Sw==",
    }
