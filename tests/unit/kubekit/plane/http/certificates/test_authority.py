"""The certificate authority of one's own, and the server's certificate from it."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from kubekit.plane.http.certificates import authority as subject
from kubekit.plane.http.certificates.authority import (
    LOOPBACK,
    Certificates,
    CertificatesRefused,
    ClientPair,
    Renewals,
)
from tests.support.kubekit import virtual_time

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAY = 600.0  # seconds, for a clock that is in a hurry


def certificate(directory: Path, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate((directory / name).read_bytes())


def names(directory: Path) -> set[str]:
    extensions = certificate(directory, "server.crt").extensions
    found = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {str(name.value) for name in found}


def test_keys_are_for_their_owner_only(tmp_path):
    """Other users of the machine cannot read a private key, or list the folder."""
    Certificates(tmp_path / "tls", NOW)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "tls").iterdir()}
    assert modes == dict.fromkeys(("ca.crt", "ca.key", "server.crt", "server.key"), 0o600)
    assert (tmp_path / "tls").stat().st_mode & 0o777 == 0o700


def test_the_certificate_is_for_loopback_and_ninety_days(tmp_path):
    """It names what it is used under and nothing else."""
    Certificates(tmp_path, NOW)
    leaf = certificate(tmp_path, "server.crt")
    assert names(tmp_path) == set(LOOPBACK)
    assert leaf.not_valid_after_utc == NOW + timedelta(days=90)
    leaf.verify_directly_issued_by(certificate(tmp_path, "ca.crt"))


def test_a_second_start_changes_nothing(tmp_path):
    """Clients that trust the authority go on trusting it."""
    Certificates(tmp_path, NOW)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    again = Certificates(tmp_path, NOW + timedelta(days=59))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert again.authority.read_bytes() == before["ca.crt"]


def test_a_certificate_is_renewed_when_thirty_days_are_left(tmp_path):
    """The authority stays, so clients need no change."""
    certificates = Certificates(tmp_path, NOW)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert certificates.renew(NOW + timedelta(days=59)) is False
    assert certificates.renew(NOW + timedelta(days=61)) is True
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    changed = {name for name, content in after.items() if content != before[name]}
    assert changed == {"server.crt", "server.key"}


def test_other_names_make_another_certificate(tmp_path):
    """A server that listens on another address gets a certificate for that name."""
    Certificates(tmp_path, NOW)
    Certificates(tmp_path, NOW, (*LOOPBACK, "plane.example.test", "10.0.0.7"))
    assert names(tmp_path) == {*LOOPBACK, "plane.example.test", "10.0.0.7"}


@pytest.mark.parametrize("lost", ["ca.key", "ca.crt"])
def test_a_lost_authority_is_made_anew_with_its_certificate(tmp_path, lost):
    """A certificate of an authority that is gone is of no use."""
    Certificates(tmp_path, NOW)
    (tmp_path / lost).unlink()
    Certificates(tmp_path, NOW)
    certificate(tmp_path, "server.crt").verify_directly_issued_by(certificate(tmp_path, "ca.crt"))


def test_an_authority_past_its_end_is_made_anew(tmp_path):
    """Ten years later it starts again by itself."""
    Certificates(tmp_path, NOW)
    before = (tmp_path / "ca.crt").read_bytes()
    Certificates(tmp_path, NOW + timedelta(days=3651))
    assert (tmp_path / "ca.crt").read_bytes() != before


def test_a_key_that_others_can_read_is_refused(tmp_path):
    """The message names the file and the command that mends it."""
    Certificates(tmp_path, NOW)
    (tmp_path / "ca.key").chmod(0o644)
    with pytest.raises(CertificatesRefused, match=r"chmod 600 .*ca\.key"):
        Certificates(tmp_path, NOW)


@pytest.mark.parametrize("broken", ["ca.key", "server.crt"])
def test_a_broken_file_is_named(tmp_path, broken):
    """Nothing is overwritten that the user may want back."""
    Certificates(tmp_path, NOW)
    (tmp_path / broken).write_text("rubbish")
    with pytest.raises(CertificatesRefused, match="delete both"):
        Certificates(tmp_path, NOW)
    assert (tmp_path / broken).read_text() == "rubbish"


def test_a_key_of_another_kind_is_refused(tmp_path):
    """Only what we make ourselves is used."""
    Certificates(tmp_path, NOW)
    other = ed25519.Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (tmp_path / "ca.key").write_bytes(other)
    with pytest.raises(CertificatesRefused, match="not an elliptic curve key"):
        Certificates(tmp_path, NOW)


def test_a_key_with_a_password_is_refused(tmp_path):
    """There is no way to ask for it."""
    Certificates(tmp_path, NOW)
    locked = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
    (tmp_path / "ca.key").write_bytes(locked)
    with pytest.raises(CertificatesRefused, match="delete both"):
        Certificates(tmp_path, NOW)


def test_a_certificate_without_its_key_is_made_anew(tmp_path):
    """A power cut between the writing of the two leaves a new key beside an old certificate."""
    Certificates(tmp_path / "other", NOW)
    Certificates(tmp_path, NOW)
    (tmp_path / "other" / "server.key").replace(tmp_path / "server.key")
    before = (tmp_path / "server.crt").read_bytes()
    Certificates(tmp_path, NOW)
    assert (tmp_path / "server.crt").read_bytes() != before


def test_an_authority_without_its_key_is_refused(tmp_path):
    """What it signs would not be trusted, and only the clients would notice."""
    Certificates(tmp_path / "other", NOW)
    Certificates(tmp_path, NOW)
    (tmp_path / "other" / "ca.key").replace(tmp_path / "ca.key")
    with pytest.raises(CertificatesRefused, match=r"ca\.crt and .*ca\.key .* delete both"):
        Certificates(tmp_path, NOW)


def test_a_running_server_renews_in_time(tmp_path, caplog):
    """A refresh each minute; an unusable file is logged, and checked again."""

    async def story():
        loop = asyncio.get_running_loop()
        certificates = Certificates(tmp_path, NOW)
        renewals = Renewals(certificates, lambda: NOW + timedelta(days=loop.time() / DAY))
        renewals.stop()
        renewals.start(loop)
        await asyncio.sleep(59 * DAY)
        first = certificate(tmp_path, "server.crt").not_valid_after_utc
        (tmp_path / "server.key").chmod(0o644)
        await asyncio.sleep(3 * DAY)
        (tmp_path / "server.key").chmod(0o600)
        await asyncio.sleep(1 * DAY)
        renewals.stop()
        return first, certificate(tmp_path, "server.crt").not_valid_after_utc

    first, last = virtual_time.run(story())
    assert first == NOW + timedelta(days=90)
    assert last > NOW + timedelta(days=150)
    assert "not renewed" in caplog.text


def test_old_versions_of_tls_are_refused(tmp_path):
    """Nothing below 1.2."""
    assert Certificates(tmp_path, NOW).context.minimum_version == ssl.TLSVersion.TLSv1_2


def der(pair: ClientPair) -> bytes:
    loaded = x509.load_pem_x509_certificate(pair.certificate)
    return loaded.public_bytes(serialization.Encoding.DER)


def test_a4_a_clock_before_the_authority_is_refused(tmp_path):
    """A new authority would not be trusted by any client; the clock is wrong."""
    Certificates(tmp_path, NOW)
    with pytest.raises(CertificatesRefused, match="set the clock"):
        Certificates(tmp_path, NOW - timedelta(days=1))


@pytest.mark.parametrize(
    ("name", "groups"), [("", []), ("x" * 65, []), ("zoe", [""]), ("zoe", ["a", ""])]
)
def test_a_name_that_no_certificate_can_hold_is_refused(tmp_path, name, groups):
    """An empty one, or one of more than 64 characters."""
    certificates = Certificates(tmp_path, NOW)
    with pytest.raises(CertificatesRefused, match="no certificate can name"):
        certificates.issue_client(name, groups, timedelta(days=1), NOW)


def test_a_client_certificate_is_accepted_within_its_validity(tmp_path):
    """From a few minutes before, for clocks that differ, to the very end."""
    certificates = Certificates(tmp_path, NOW)
    shown = der(certificates.issue_client("zoe", ["a"], timedelta(hours=1), NOW))
    known = [
        certificates.client_of(shown, NOW + timedelta(minutes=minutes)) is not None
        for minutes in (-6, -5, 0, 59, 60)
    ]
    assert known == [False, True, True, True, False]


def test_a_client_of_an_authority_that_was_replaced_is_unknown(tmp_path):
    """Also while the server runs, whose TLS still trusts the old one."""
    certificates = Certificates(tmp_path, NOW)
    shown = der(certificates.issue_client("zoe", [], timedelta(days=1), NOW))
    before = certificates.client_of(shown, NOW)
    (tmp_path / "ca.crt").unlink()
    certificates.refresh(NOW)
    assert before is not None
    assert certificates.client_of(shown, NOW) is None


@pytest.mark.parametrize("shown", [b"rubbish", b"\x30\x03\x02\x01\x01"])
def test_an_invalid_certificate_has_no_user(tmp_path, shown):
    """TLS lets none of it through, and nothing depends on that."""
    assert Certificates(tmp_path, NOW).client_of(shown, NOW) is None


def test_no_more_clients_are_kept_than_there_is_room_for(tmp_path, monkeypatch):
    """A dropped certificate is verified again."""
    monkeypatch.setattr(subject, "_CLIENTS_KEPT", 2)
    certificates = Certificates(tmp_path, NOW)
    shown = [
        der(certificates.issue_client(name, [], timedelta(days=1), NOW)) for name in ("a", "b", "c")
    ]
    known = [certificates.client_of(one, NOW) for one in (*shown, *shown)]
    assert [client.identity.user.name for client in known if client is not None] == list("abcabc")


def test_serials_that_another_process_revoked_are_loaded(tmp_path):
    """At the next refresh, which detects that the file has changed."""
    running, other = Certificates(tmp_path, NOW), Certificates(tmp_path, NOW)
    pair = running.issue_client("zoe", [], timedelta(days=1), NOW)
    other.revoke(x509.load_pem_x509_certificate(pair.certificate).serial_number)
    before = running.client_of(der(pair), NOW)
    running.refresh(NOW)
    assert before is not None
    assert running.client_of(der(pair), NOW) is None


def test_a_broken_list_of_serials_is_named(tmp_path):
    """It is not taken for an empty one: that would accept revoked certificates."""
    Certificates(tmp_path, NOW)
    (tmp_path / "revoked").write_text("no number\n")
    with pytest.raises(CertificatesRefused, match="is not a list of serial numbers"):
        Certificates(tmp_path, NOW)
