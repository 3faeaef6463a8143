"""Every decoder of client input accepts it, or refuses it with its documented error.

FUZZ_EXAMPLES is how many inputs of each sort are tried on each reader.
"""

import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from compute.app import definitions
from kubekit.plane.http.authentication.bearer_tokens import Tokens, TokensRefused
from kubekit.plane.http.certificates.authority import Certificates, CertificatesRefused
from kubekit.plane.identity.web_tokens import KeyRefused, SigningKey
from kubekit.plane.store.errors import KeysRefused
from kubekit.plane.store.keys import KeyFile
from kubekit.plane.users import User
from tests.support.generated import depth
from tests.support.generated.fuzz_readings import READINGS, Reading
from tests.support.generated.spoiling import anything, spoiled
from tests.support.kubekit.http_builders import NOW, environment
from tests.support.kubekit.kites import DEFINITION

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", str(depth.examples(100))))
fuzzing = settings(max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck))
every_reading = pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.name)


@every_reading
@fuzzing
@given(data=anything())
def test_any_bytes(reading: Reading, data: bytes) -> None:
    """Arbitrary bytes."""
    _read(reading, data)


@every_reading
@fuzzing
@given(data=st.data())
def test_spoiled_input(reading: Reading, data: st.DataObject) -> None:
    """Valid input with random changes."""
    _read(reading, data.draw(spoiled(reading.seeds)))


def _read(reading: Reading, data: bytes) -> None:
    try:
        reading.read(data)
    except reading.refusals:
        return


@dataclass(frozen=True)
class Filing:
    """A folder with files that are read at the start: how it is made, read, and refused."""

    make: Callable[[Path], object]
    read: Callable[[Path], object]
    refusal: type[Exception]


def _issue(folder: Path) -> None:
    tokens = Tokens(folder / "tokens.json", environment())
    tokens.issue(User("ann", ("crew",), "1", {"a": ("b",)}), timedelta(days=1))


def _seal(folder: Path) -> None:
    keys = KeyFile(folder / "keys.json")
    keys.create_first()
    keys.rotate()


def _certify(folder: Path) -> None:
    Certificates(folder, NOW).revoke(255)


FILINGS = {
    "tokens": Filing(_issue, lambda at: Tokens(at / "tokens.json", environment()), TokensRefused),
    "keys": Filing(_seal, lambda at: KeyFile(at / "keys.json").names(), KeysRefused),
    "account key": Filing(
        lambda at: SigningKey.at(at / "accounts.key"),
        lambda at: SigningKey.at(at / "accounts.key"),
        KeyRefused,
    ),
    "certificates": Filing(_certify, lambda at: Certificates(at, NOW), CertificatesRefused),
    "definitions": Filing(
        lambda at: (at / "kites.yaml").write_text(DEFINITION), definitions.read, definitions.BadFile
    ),
}


@pytest.mark.parametrize("filing", FILINGS.values(), ids=list(FILINGS))
@fuzzing
@given(data=st.data())
def test_spoiled_files(
    tmp_path_factory: pytest.TempPathFactory, filing: Filing, data: st.DataObject
) -> None:
    """A file that is damaged or another one is refused by its name, and the others are left alone."""
    folder = tmp_path_factory.mktemp("files")
    filing.make(folder)
    file = data.draw(st.sampled_from(sorted(folder.iterdir())))
    whole = file.read_bytes()
    file.write_bytes(data.draw(anything() | spoiled([whole])))
    said = _refusal(filing, folder)

    assert said is None or str(folder) in said


def _refusal(filing: Filing, folder: Path) -> str | None:
    try:
        filing.read(folder)
    except filing.refusal as refusal:
        return str(refusal)
    return None


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"), NOW)


@fuzzing
@given(data=st.data())
def test_spoiled_certificates_of_clients(data: st.DataObject, certificates: Certificates) -> None:
    """A certificate that we have not signed never authenticates a user."""
    pair = certificates.issue_client("ann", ["crew"], timedelta(days=1), NOW)
    good = ssl.PEM_cert_to_DER_cert(pair.certificate.decode())
    shown = data.draw(anything() | spoiled([good]))
    client = certificates.client_of(shown, NOW)

    assert client is None or shown == good
