"""The connection of a program in a pod."""

import pytest

from kubekit.client.connection import Misconfigured
from kubekit.client.in_cluster import in_cluster, inside
from tests.support.kubekit.kubeconfig_builders import SECRET, authority_pem
from tests.support.kubekit.virtual_time import run

POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "token").write_text(SECRET + "\n")
    (tmp_path / "ca.crt").write_bytes(authority_pem())
    (tmp_path / "namespace").write_text("here\n")
    return tmp_path


def test_a_pod_reaches_its_own_cluster_as_its_service_account(folder):
    """Server, authority, token and namespace come from what the kubelet gives every pod."""
    connection = in_cluster(POD, folder)
    assert connection.server == "https://10.0.0.1:443"
    assert connection.authority == authority_pem()
    assert connection.namespace == "here"
    assert run(connection.credentials.headers()) == {"Authorization": f"Bearer {SECRET}"}
    assert str(connection.origin) == str(folder)
    assert SECRET not in repr(connection)


def test_a_new_token_of_the_kubelet_is_taken_up(folder):
    """The token is replaced on disk long before its end."""
    connection = in_cluster(POD, folder)
    (folder / "token").write_text("next")
    assert run(connection.credentials.headers()) == {"Authorization": "Bearer next"}


@pytest.mark.parametrize(
    ("host", "server"),
    [
        ("fd00::1", "https://[fd00::1]:443"),
        ("kubernetes.default", "https://kubernetes.default:443"),
    ],
)
def test_hosts_are_written_as_a_url_needs_them(folder, host, server):
    """An IPv6 address is put into brackets."""
    assert in_cluster({**POD, "KUBERNETES_SERVICE_HOST": host}, folder).server == server


def test_a_proxy_of_the_environment_is_used(folder):
    """A pod may have to reach its API server through a proxy, as any other client."""
    proxy = "http://proxy:3128"
    assert in_cluster({**POD, "HTTPS_PROXY": proxy}, folder).proxy == proxy


@pytest.mark.parametrize(
    ("variables", "content", "namespace"),
    [({"POD_NAMESPACE": "said"}, "here", "said"), ({}, " ", "default"), ({}, None, "default")],
    ids=["by the environment", "empty file", "no file"],
)
def test_the_namespace_of_a_pod(folder, variables, content, namespace):
    """The environment takes precedence over the file; without both it is the default one."""
    (folder / "namespace").unlink()
    if content is not None:
        (folder / "namespace").write_text(content)
    assert in_cluster(POD | variables, folder).namespace == namespace


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({}, "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: not set; this is not a pod"),
        (POD | {"KUBERNETES_SERVICE_PORT": "99999"}, "KUBERNETES_SERVICE_PORT: not the number"),
        (POD | {"KUBERNETES_SERVICE_PORT": "9" * 5000}, "KUBERNETES_SERVICE_PORT: not the number"),
        (POD | {"KUBERNETES_SERVICE_PORT": "https"}, "KUBERNETES_SERVICE_PORT: not the number"),
        (POD | {"KUBERNETES_SERVICE_HOST": "a:b"}, "KUBERNETES_SERVICE_HOST: neither an address"),
        (POD | {"KUBERNETES_SERVICE_HOST": "a/b"}, "KUBERNETES_SERVICE_HOST: neither an address"),
    ],
)
def test_variables_that_name_no_server_are_an_error(folder, variables, problem):
    """The message names the variable."""
    with pytest.raises(Misconfigured, match=problem):
        in_cluster(variables, folder)


@pytest.mark.parametrize("name", ["token", "ca.crt"])
def test_a_pod_without_a_service_account_is_an_error(folder, name):
    """The message names the missing file and what to do."""
    (folder / name).unlink()
    with pytest.raises(Misconfigured, match=f"{folder / name}: No such file.*service account"):
        in_cluster(POD, folder)


def test_an_authority_that_is_none_is_an_error(folder):
    """Without a good authority the token would go to anybody."""
    (folder / "ca.crt").write_text("nothing")
    with pytest.raises(Misconfigured, match=r"ca\.crt: the certificate authority"):
        in_cluster(POD, folder)


def test_one_can_ask_whether_this_is_a_pod(folder, tmp_path):
    """It takes the variables and the token."""
    assert inside(POD, folder)
    assert not inside({}, folder)
    assert not inside(POD, tmp_path / "elsewhere")
