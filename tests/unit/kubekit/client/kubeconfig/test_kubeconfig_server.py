"""What a cluster of a kubeconfig says of its server."""

import pytest

from kubekit.client.connection import Misconfigured
from kubekit.client.kubeconfig import load
from tests.support.kubekit.kubeconfig_builders import (
    SECRET,
    authority_pem,
    b64,
    config,
    environment,
    written,
)
from tests.support.kubekit.virtual_time import run


def loaded(folder, cluster, user=None, **variables):
    return load(environment(), [written(folder, config(cluster, user))], "", variables)


def refused(folder, cluster, **variables):
    with pytest.raises(Misconfigured) as error:
        loaded(folder, cluster, **variables)
    return str(error.value)


@pytest.mark.parametrize(
    ("written_as", "server"),
    [
        ("https://a.test", "https://a.test"),
        ("https://a.test:6443/", "https://a.test:6443"),
        ("HTTPS://a.test", "https://a.test"),
        ("http://a.test", "http://a.test"),
        ("https://[fd00::1]:6443/clusters/hub/", "https://[fd00::1]:6443/clusters/hub"),
        ("https://a.test//a//b/", "https://a.test/a/b"),
        ("https://a.test/a?b=c#d", "https://a.test/a"),
        ("https://jo:pw@a.test/p", "https://a.test/p"),
    ],
)
def test_a_server_keeps_its_path_and_loses_what_is_no_part_of_it(tmp_path, written_as, server):
    """Requests go under the path; the slash at its end, a query and a password do not."""
    assert loaded(tmp_path, {"server": written_as}).server == server


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        ("", "missing; write https://HOST:PORT"),
        ("a.test:6443", "neither https:// nor http://; write https://HOST:PORT"),
        ("https:a.test", "neither https:// nor http://; write https://HOST:PORT"),
        ("ftp://a.test", "neither https:// nor http://; write https://HOST:PORT"),
        ("https://", "not a URL; write https://HOST:PORT"),
        ("https://a.test:99999", "not a URL; write https://HOST:PORT"),
        ("https://a.test:0", "not a URL; write https://HOST:PORT"),
        ("https://[fd00", "not a URL; write https://HOST:PORT"),
        ("https://a b", "not a URL; write https://HOST:PORT"),
        (f"https://jo:{SECRET}@a.test\n", "not a URL; write https://HOST:PORT"),
    ],
)
def test_a_server_that_is_no_url_is_an_error(tmp_path, server, problem):
    """The message names the field and the form, and shows nothing of the value."""
    message = refused(tmp_path, {"server": server})
    assert message == f"{tmp_path / 'config'}: clusters['c'].cluster.server: {problem}"


def test_a_name_and_password_in_the_url_are_the_credentials(tmp_path):
    """As for kubectl they take precedence over a token, also without TLS."""
    for scheme in ("http", "https"):
        connection = loaded(tmp_path, {"server": f"{scheme}://j%6F:p%40@a.test"}, {"token": "t"})
        assert run(connection.credentials.headers()) == {"Authorization": "Basic am86cEA="}


def test_the_authority_is_taken_from_data_or_from_a_file(tmp_path):
    """Data may be on several lines and takes precedence over a file, which need not exist then."""
    data = b64(authority_pem())
    (tmp_path / "ca.pem").write_bytes(authority_pem())
    given = [
        {"certificate-authority-data": f"{data[:76]}\r\n{data[76:]}\n"},
        {"certificate-authority": "ca.pem"},
        {"certificate-authority": str(tmp_path / "ca.pem")},
        {"certificate-authority-data": data, "certificate-authority": "missing.pem"},
    ]
    assert {loaded(tmp_path, each).authority for each in given} == {authority_pem()}
    assert loaded(tmp_path, {}).authority is None


@pytest.mark.parametrize(
    ("cluster", "field", "problem"),
    [
        ({"certificate-authority-data": "e*"}, "certificate-authority-data", "not base64"),
        ({"certificate-authority-data": "é"}, "certificate-authority-data", "not base64"),
        ({"certificate-authority-data": "eA=="}, "certificate-authority-data", "the certificate"),
        ({"certificate-authority": "config"}, "certificate-authority", "the certificate authority"),
        ({"certificate-authority": "missing"}, "certificate-authority", "/missing: No such file"),
        (
            {"certificate-authority": "x", "insecure-skip-tls-verify": True},
            "insecure-skip-tls-verify",
            "cannot be true beside a certificate authority; remove one",
        ),
    ],
)
def test_an_authority_that_is_none_is_an_error(tmp_path, cluster, field, problem):
    """The message names the field and the file that it leads to."""
    message = refused(tmp_path, cluster)
    assert message.startswith(f"{tmp_path / 'config'}: clusters['c'].cluster.{field}: ")
    assert problem in message


def test_without_tls_no_authority_is_read(tmp_path):
    """There is no certificate to verify."""
    cluster = {"server": "http://a.test", "certificate-authority": "missing"}
    assert loaded(tmp_path, cluster).authority is None


def test_a_server_is_left_unverified_only_when_asked(tmp_path):
    """insecure-skip-tls-verify is the only way."""
    assert loaded(tmp_path, {"insecure-skip-tls-verify": True}).insecure is True
    assert loaded(tmp_path, {}).insecure is False


@pytest.mark.parametrize("proxy", ["http://p:1", "https://jo:pw@p", "HTTP://p"])
def test_the_proxy_of_the_cluster_goes_before_that_of_the_environment(tmp_path, proxy):
    """What the file says holds, whatever NO_PROXY says."""
    variables = {"HTTPS_PROXY": "http://other", "NO_PROXY": "*"}
    assert loaded(tmp_path, {"proxy-url": proxy}, **variables).proxy == proxy


@pytest.mark.parametrize(
    "proxy", ["p:1", "foo://p", "socks5://p", "http://", "http://p:x", "http://p q", "http://[a"]
)
def test_a_proxy_that_is_none_is_an_error(tmp_path, proxy):
    """The message names the field, and does not show the URL: it may hold a password."""
    assert refused(tmp_path, {"proxy-url": proxy}) == (
        f"{tmp_path / 'config'}: clusters['c'].cluster.proxy-url: not the URL of an HTTP proxy; "
        "write http://HOST:PORT"
    )


PROXY = "http://proxy:3128"


@pytest.mark.parametrize(
    ("server", "variables", "proxy"),
    [
        ("https://a.test", {"HTTPS_PROXY": PROXY}, PROXY),
        ("https://a.test", {"https_proxy": PROXY}, PROXY),
        ("https://a.test", {"HTTPS_PROXY": "proxy:3128"}, PROXY),
        ("https://a.test", {"HTTP_PROXY": PROXY}, ""),
        ("http://a.test", {"HTTP_PROXY": PROXY}, PROXY),
        ("http://a.test", {"HTTP_PROXY": PROXY, "REQUEST_METHOD": "GET"}, ""),
        ("https://localhost", {"HTTPS_PROXY": PROXY}, ""),
        ("https://127.9.9.9", {"HTTPS_PROXY": PROXY}, ""),
        ("https://[::1]:1", {"HTTPS_PROXY": PROXY}, ""),
        ("https://a.test", {}, ""),
    ],
)
def test_the_environment_names_a_proxy_by_the_scheme(tmp_path, server, variables, proxy):
    """The machine itself needs none, and no caller of a CGI script can choose one."""
    assert loaded(tmp_path, {"server": server}, **variables).proxy == proxy


@pytest.mark.parametrize(
    ("rule", "spared"),
    [
        ("*", ["https://a.test", "https://b.a.test", "https://10.1.2.3", "https://[fd00::1]"]),
        ("a.test", ["https://a.test", "https://b.a.test"]),
        (" x, A.TEST ", ["https://a.test", "https://b.a.test"]),
        (".a.test", ["https://b.a.test"]),
        ("*.a.test", ["https://b.a.test"]),
        ("test.a", []),
        ("a.test:443", ["https://a.test", "https://b.a.test"]),
        ("a.test:6443", []),
        ("10.0.0.0/8", ["https://10.1.2.3"]),
        ("10.0.0.0/x", []),
        ("10.1.2.3", ["https://10.1.2.3"]),
        ("10.1.2.3:443", ["https://10.1.2.3"]),
        ("10.1.2.4,2.3", []),
        ("fd00::/8", ["https://[fd00::1]"]),
        ("fd00::1", ["https://[fd00::1]"]),
        ("[fd00::1]:443", ["https://[fd00::1]"]),
        ("[fd00::1]", ["https://[fd00::1]"]),
        ("", []),
    ],
)
def test_no_proxy_spares_names_addresses_and_networks(tmp_path, rule, spared):
    """A name spares the names below it too; a port, where it is given, must be the server's."""
    servers = ["https://a.test", "https://b.a.test", "https://10.1.2.3", "https://[fd00::1]"]
    variables = {"HTTPS_PROXY": PROXY, "no_proxy": rule}
    direct = [each for each in servers if not loaded(tmp_path, {"server": each}, **variables).proxy]
    assert direct == spared


@pytest.mark.parametrize("proxy", ["socks5://p", "http://", "http://p:x", "http://[a"])
def test_a_proxy_of_the_environment_that_is_none_is_an_error(tmp_path, proxy):
    """The message names the variable, and how to go without."""
    assert refused(tmp_path, {}, HTTPS_PROXY=proxy).startswith(
        "HTTPS_PROXY: not the URL of an HTTP"
    )
