"""The certificate authority of one's own, and the server's certificate from it."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from compute.plane.http.certificates import LOOPBACK, Certificates, CertificatesRefused, Renewals
from tests import virtual_time

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def certificate(directory: Path, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate((directory / name).read_bytes())


def names(directory: Path) -> set[str]:
    extensions = certificate(directory, "server.crt").extensions
    found = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {str(name.value) for name in found}


def test_keys_are_for_their_owner_only(tmp_path):
    """Nobody else on the machine may read a private key, or look into the folder."""
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
    """The authority stays, so nobody has to be told."""
    certificates = Certificates(tmp_path, NOW)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert certificates.renew(NOW + timedelta(days=59)) is False
    assert certificates.renew(NOW + timedelta(days=61)) is True
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    changed = {name for name, content in after.items() if content != before[name]}
    assert changed == {"server.crt", "server.key"}


def test_other_names_make_another_certificate(tmp_path):
    """A server that is told to listen elsewhere gets a certificate for that name."""
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
    """Nothing is overwritten that somebody may want back."""
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
    with pytest.raises(CertificatesRefused, match="no elliptic curve key"):
        Certificates(tmp_path, NOW)


def test_a_key_with_a_password_is_refused(tmp_path):
    """Nobody is there to be asked for it."""
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
    """What it signed would be trusted by nobody, and that would show only in the clients."""
    Certificates(tmp_path / "other", NOW)
    Certificates(tmp_path, NOW)
    (tmp_path / "other" / "ca.key").replace(tmp_path / "ca.key")
    with pytest.raises(CertificatesRefused, match=r"ca\.crt and .*ca\.key .* delete both"):
        Certificates(tmp_path, NOW)


def test_a_running_server_renews_in_time(tmp_path, caplog):
    """A look twice a day; a file that cannot be used is logged, and looked at again."""

    async def story():
        loop = asyncio.get_running_loop()
        certificates = Certificates(tmp_path, NOW)
        renewals = Renewals(certificates, lambda: NOW + timedelta(seconds=loop.time()))
        renewals.stop()
        renewals.start(loop)
        await asyncio.sleep(timedelta(days=59).total_seconds())
        first = certificate(tmp_path, "server.crt").not_valid_after_utc
        (tmp_path / "server.key").chmod(0o644)
        await asyncio.sleep(timedelta(days=3).total_seconds())
        (tmp_path / "server.key").chmod(0o600)
        await asyncio.sleep(timedelta(days=1).total_seconds())
        renewals.stop()
        return first, certificate(tmp_path, "server.crt").not_valid_after_utc

    first, last = virtual_time.run(story())
    assert first == NOW + timedelta(days=90)
    assert last > NOW + timedelta(days=150)
    assert "not renewed" in caplog.text


def test_old_versions_of_tls_are_not_spoken(tmp_path):
    """Nothing below 1.2."""
    assert Certificates(tmp_path, NOW).context.minimum_version == ssl.TLSVersion.TLSv1_2
