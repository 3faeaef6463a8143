"""Credentials that are there, and those in files that are replaced while in use."""

import asyncio
import logging
from pathlib import Path

import pytest

from kubekit.client.connection import NoCredentials
from kubekit.client.credentials import FILE_LIMIT, Basic, BearerToken, Both, KeyPair
from kubekit.client.token_file import TokenFile
from tests.support.kubekit.kubeconfig_builders import SECRET, client_pair, server_pair
from tests.support.kubekit.virtual_time import run


@pytest.mark.parametrize(
    ("credentials", "header"),
    [
        (BearerToken("abc"), {"Authorization": "Bearer abc"}),
        (Basic("jo", "pass:word"), {"Authorization": "Basic am86cGFzczp3b3Jk"}),
        (Basic("jø", ""), {"Authorization": "Basic asO4Og=="}),
        (KeyPair(b"", b""), {}),
        (Both(BearerToken("abc"), KeyPair(b"", b"")), {"Authorization": "Bearer abc"}),
    ],
    ids=["token", "password", "no password", "certificate", "both"],
)
def test_what_stays_as_it_is_has_one_header_and_nothing_new(credentials, header):
    """Fixed credentials say the same each time, so that a refusal is not worth another try."""
    assert run(credentials.headers()) == header
    assert run(credentials.renew()) is False


def test_only_a_key_pair_has_a_certificate():
    """A certificate comes from a key pair, alone or beside a token."""
    pair = KeyPair(client_pair().certificate, client_pair().key)
    assert (BearerToken("a").certificate(), Basic("a", "b").certificate()) == (None, None)
    assert pair.certificate() == Both(BearerToken("a"), pair).certificate() == client_pair()


def test_a_token_file_is_read_again_within_a_minute(tmp_path):
    """A token that is replaced on disk is in use a minute later, and the file is not read each time."""
    path = _token(tmp_path, "first\n")
    credentials = TokenFile(path)

    async def story() -> list[str]:
        tokens = [await _bearer(credentials)]
        path.write_text("second")
        for seconds in (0, 49, 2):
            await asyncio.sleep(seconds)
            tokens.append(await _bearer(credentials))
        return tokens

    assert run(story()) == ["Bearer first", "Bearer first", "Bearer first", "Bearer second"]


def test_a_refused_token_is_read_again_at_once(tmp_path):
    """After a 401 the file is read; only a new token is worth another try, for all who were refused."""
    path = _token(tmp_path, "first")
    credentials = TokenFile(path)

    async def story() -> list[object]:
        seen: list[object] = [await _bearer(credentials), await credentials.renew()]
        path.write_text("second")
        seen += [await credentials.renew(), await credentials.renew(), await _bearer(credentials)]
        await asyncio.sleep(60)
        return [*seen, await credentials.renew()]

    assert run(story()) == ["Bearer first", False, True, True, "Bearer second", False]


def test_the_last_token_stays_in_use_while_its_file_is_away(tmp_path, caplog):
    """A file that is missing for a moment does not fail requests, and is read again soon."""
    path = _token(tmp_path, SECRET)
    credentials = TokenFile(path)

    async def story() -> list[str]:
        tokens = [await _bearer(credentials)]
        path.unlink()
        await asyncio.sleep(60)
        tokens.append(await _bearer(credentials))
        path.write_text("new")
        await asyncio.sleep(11)
        return [*tokens, await _bearer(credentials)]

    assert run(story()) == [f"Bearer {SECRET}", f"Bearer {SECRET}", "Bearer new"]
    assert [record.message for record in caplog.records] == ["keeping the last token"]
    assert SECRET not in str(vars(caplog.records[0]))


def test_a_token_beside_a_file_is_used_while_the_file_has_none(tmp_path):
    """The token is the fallback, as for kubectl; the file takes precedence."""
    path = tmp_path / "token"

    async def story() -> list[object]:
        credentials = TokenFile(path, otherwise="given")
        tokens: list[object] = [await _bearer(credentials)]
        path.write_text("file")
        return [*tokens, await credentials.renew(), await _bearer(credentials)]

    assert run(story()) == ["Bearer given", True, "Bearer file"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file or directory"),
        (b" \n", "the token file is empty"),
        (b"one\ntwo", "the token file holds more than one line, or no text"),
        (b"\xff\xfe", "the token file holds more than one line, or no text"),
        (b"x" * (FILE_LIMIT + 1), "larger than 1024 KiB"),
    ],
    ids=["missing", "empty", "two lines", "no text", "large"],
)
def test_a_token_file_without_a_token_is_an_error(tmp_path, content, problem):
    """The message names the file and what is wrong with it, and shows nothing of it."""
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(NoCredentials) as refused:
        run(TokenFile(path).headers())
    assert str(refused.value) == f"{path}: {problem}"


def test_a_path_that_is_none_is_an_error():
    """An invalid path is reported like a missing file."""
    with pytest.raises(NoCredentials, match="not a path"):
        run(TokenFile(Path("a\0b")).headers())
    with pytest.raises(NoCredentials, match="not a path"):
        KeyPair(Path("a\0b"), b"").certificate()


def test_files_are_named_but_not_shown(tmp_path):
    """Control K2: credentials in files show where they are, and credentials as data nothing."""
    path = _token(tmp_path, SECRET)
    assert repr(TokenFile(path, otherwise=SECRET)) == f"TokenFile({str(path)!r})"
    assert repr(KeyPair(path, SECRET.encode())) == f"KeyPair({str(path)!r})"


def test_a_certificate_is_replaced_once_both_files_are(tmp_path, caplog):
    """While only one of the files is new the old pair stays in use, and it is logged once."""
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    old, new = client_pair(), server_pair()
    certificate.write_bytes(old.certificate)
    key.write_bytes(old.key)
    credentials = KeyPair(certificate, key)
    seen = [credentials.certificate(), credentials.certificate()]
    certificate.write_bytes(new.certificate)
    seen += [credentials.certificate(), credentials.certificate()]
    key.write_bytes(new.key)
    seen.append(credentials.certificate())
    assert seen == [old, old, old, old, new]
    assert [record.message for record in caplog.records] == ["keeping the last client certificate"]


def test_the_last_certificate_stays_in_use_while_its_file_is_away(tmp_path, caplog):
    """A file that is missing for a moment does not fail requests, and is logged once."""
    key = tmp_path / "tls.key"
    key.write_bytes(client_pair().key)
    credentials = KeyPair(client_pair().certificate, key)
    seen = [credentials.certificate()]
    key.unlink()
    seen += [credentials.certificate(), credentials.certificate()]
    assert seen == [client_pair()] * 3
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert str(key) in vars(caplog.records[0])["problem"]


@pytest.mark.parametrize("there", ["certificate", "key", "neither"])
def test_a_certificate_that_was_never_there_is_an_error(tmp_path, there):
    """The message names the file that is missing."""
    certificate, key = tmp_path / "certificate", tmp_path / "key"
    (tmp_path / there).write_bytes(b"x")
    missing = key if there == "certificate" else certificate
    with pytest.raises(NoCredentials, match=f"{missing}: No such file"):
        KeyPair(certificate, key).certificate()


def test_files_that_are_no_certificate_are_named(tmp_path):
    """Both files are named, since either may be the wrong one; they are read each time."""
    certificate, key = tmp_path / "a", tmp_path / "b"
    certificate.write_bytes(b"x")
    key.write_bytes(b"y")
    credentials = KeyPair(certificate, key)
    for _ in range(2):
        with pytest.raises(NoCredentials, match=f"{certificate} and {key}: not a certificate"):
            credentials.certificate()


def _token(folder: Path, text: str) -> Path:
    path = folder / "token"
    path.write_text(text)
    return path


async def _bearer(credentials: TokenFile) -> str:
    return (await credentials.headers())["Authorization"]
