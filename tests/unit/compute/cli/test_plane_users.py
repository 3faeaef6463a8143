"""`compute plane users`: which user has access, for how long, and how it is revoked."""

import base64
import re
from datetime import timedelta

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from compute.app.kubeconfig import kubeconfig
from compute.app.system_environment import system
from compute.cli.root import run
from kubekit.plane.http.certificates.authority import Certificates
from kubekit.plane.private_files import write_private

now = system().now  # the command asks the same clock
URL = "https://127.0.0.1:7443"


@pytest.fixture
def data(tmp_path):
    certificates = Certificates(tmp_path / "pki", now())
    content = kubeconfig(URL, certificates.authority.read_bytes(), "token")
    write_private(tmp_path / "kubeconfig", content)
    return tmp_path


def added(data, capsys, *arguments):
    """The certificate that a new user gets, the whole kubeconfig, and what is said beside it."""
    assert run(["plane", "users", "add", *arguments, "--data", str(data)]) == 0
    captured = capsys.readouterr()
    config = yaml.safe_load(captured.out)
    pem = base64.b64decode(config["users"][0]["user"]["client-certificate-data"])
    der = x509.load_pem_x509_certificate(pem).public_bytes(serialization.Encoding.DER)
    return der, config, captured.err


def test_a2_a_certificate_expires(data, capsys):
    """The certificate names the user and the groups, and expires."""
    der, config, _ = added(data, capsys, "alice", "--group", "devs", "--hours", "2")
    certificates = Certificates(data / "pki", now())
    client = certificates.client_of(der, now())
    assert client is not None
    assert (client.identity.user.name, client.identity.how) == ("alice", "certificate")
    assert client.identity.user.groups == ("devs", "system:authenticated")
    assert config["clusters"][0]["cluster"]["server"] == URL
    assert certificates.client_of(der, now() + timedelta(hours=3)) is None


def test_a2_a_certificate_is_revoked(data, capsys):
    """By the serial number that was printed. A server that reads the folder refuses it."""
    der, _, output = added(data, capsys, "alice")
    (serial,) = re.findall(r"revoke ([0-9a-f]+) ", output)
    assert run(["plane", "users", "revoke", serial, "--data", str(data)]) == 0
    certificates = Certificates(data / "pki", now())
    assert certificates.client_of(der, now()) is None


def test_others_stay_revoked(data):
    """To revoke one is not to let another in again."""
    for serial in ("a1", "b2"):
        assert run(["plane", "users", "revoke", serial, "--data", str(data)]) == 0
    assert (data / "pki/revoked").read_text().split() == ["a1", "b2"]


def test_the_certificate_of_the_server_stays(data, capsys):
    """A server may be running on it, under names that are not known here."""
    before = (data / "pki/server.crt").read_bytes()
    added(data, capsys, "alice")
    assert (data / "pki/server.crt").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add", "a" * 100), "no certificate can name"),
        (("add", " "), "a user needs a name"),
        (("add", "alice", "--hours", "0"), "--hours"),
        (("add", "system:kube-scheduler"), "are reserved: system:kube-scheduler"),
        (("add", "project:shop:admin"), "are reserved: project:shop:admin"),
        (("add", "eve", "--group", "system:masters"), "are reserved: system:masters"),
        (("add", "alice", "--role", "viewer"), "a role needs --project PROJECT"),
        (
            ("add", "alice", "--project", "shop"),
            "is not running\nNext:  compute up --detach --data",
        ),
        (
            ("remove", "alice", "--project", "shop"),
            "is not running\nNext:  compute up --detach --data",
        ),
        (("revoke", "zz"), "zz is not a serial number"),
    ],
    ids=[
        "long",
        "no name",
        "no time",
        "system user",
        "project user",
        "system group",
        "role",
        "add",
        "remove",
        "no number",
    ],
)
def test_what_cannot_be_done_is_reported(data, capsys, arguments, message):
    """One sentence, and nothing on stdout that could be taken for a kubeconfig."""
    assert run(["plane", "users", *arguments, "--data", str(data)]) != 0
    captured = capsys.readouterr()
    assert message in captured.err
    assert not captured.out


def test_k2_a_kubeconfig_is_private(data, tmp_path, capsys):
    """A process that can read it can act as that user."""
    out = tmp_path / "alice.kubeconfig"
    arguments = ["plane", "users", "add", "alice", "--out", str(out), "--data", str(data)]
    assert run(arguments) == 0
    assert out.stat().st_mode & 0o777 == 0o600
    assert yaml.safe_load(out.read_bytes())["users"]
    assert not capsys.readouterr().out


def test_a_folder_without_a_plane(tmp_path, capsys):
    """The sentence says how to make one."""
    assert run(["plane", "users", "add", "alice", "--data", str(tmp_path)]) == 1
    assert "Next:  compute plane serve --data" in capsys.readouterr().err


def test_a_plane_that_was_never_served(data, capsys):
    """Its address is not known yet."""
    (data / "kubeconfig").write_text("clusters: []")
    assert run(["plane", "users", "add", "alice", "--data", str(data)]) == 1
    assert "start the plane once" in capsys.readouterr().err
