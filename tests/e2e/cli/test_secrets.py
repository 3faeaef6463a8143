"""`compute secrets`, on a running world."""

import base64

import pytest

from kubekit.api.kinds.core import Secret
from kubekit.api.meta import ObjectMeta
from tests.support.compute.project_objects import (
    create,
    create_namespace,
    in_plane,
    kubeconfig_of,
    wanted,
)
from tests.support.compute.store_builders import using, variable

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

BINARY = b"\xff\x00\r\n"


@pytest.fixture
def namespace(compute, name):
    """A namespace whose Secrets no other test sees."""
    create_namespace(compute, name)
    return name


def stored(compute, name, namespace="default"):
    """The values that the server has."""
    secret = in_plane(compute, lambda client: client.get(Secret, name, namespace))
    return {key: base64.b64decode(text) for key, text in secret.data.items()}


def test_a_secret_from_its_first_value_to_the_list(transcript, compute, namespace):
    """Keys are set, replaced and removed, each for itself; no value is printed."""
    transcript.replace[namespace] = "back"
    (compute.home / "tls.crt").write_bytes(BINARY)
    (compute.home / "db.env").write_text("HOST=db.internal\nPORT=5432\n")
    at = ("-n", namespace)

    transcript("secrets", *at)
    transcript("secrets", "set", "db", "TOKEN=deadbeef00==", "OLD=1", *at)
    transcript("secrets", "set", "db", "PASSWORD=-", "OLD-", *at, text="hunter2\n")
    transcript("secrets", "set", "db", "--from-file", "tls.crt", "--from-env-file", "db.env", *at)
    transcript("secrets", "set", "db", "PORT=5432", "NEVER-", *at)
    transcript("secrets", "set", "db", "A=1", "-o", "name", *at)
    transcript("secrets", "list", *at)
    transcript("secrets", "list", "-o", "wide", *at)
    transcript("secrets", "list", "-o", "name", *at)

    assert [run.code for run in transcript.runs] == [0] * 9
    assert stored(compute, "db", namespace) == {
        "A": b"1",
        "HOST": b"db.internal",
        "PASSWORD": b"hunter2\n",
        "PORT": b"5432",
        "TOKEN": b"deadbeef00==",
        "tls.crt": BINARY,
    }


def test_workloads_that_keep_the_old_values(shop_transcript, shop):
    """Those that read a changed key, with the command that restarts each."""
    for name, key in (("api", "HOST"), ("edge", "TOKEN"), ("web", "TOKEN")):
        create(shop, wanted(name, of=using(variable("keys", key, secret=True))))

    shop_transcript("secrets", "set", "keys", "TOKEN=1", "HOST=db")
    shop_transcript("secrets", "set", "keys", "HOST=db.internal")
    shop_transcript("secrets", "set", "keys", "TOKEN=2", "-o", "json")
    shop_transcript("secrets", "list")


def test_two_users_set_different_keys(compute, name):
    """Neither undoes what the other has set."""
    assert compute("secrets", "set", name, "FIRST=0").code == 0
    processes = [compute.start("secrets", "set", name, f"{key}=1") for key in ("A", "B", "C", "D")]
    for process in processes:
        process.communicate(timeout=60)

    assert stored(compute, name) == {"FIRST": b"0"} | dict.fromkeys("ABCD", b"1")


def test_two_users_create_it(compute, name):
    """The second one adds its key to what the first has created."""
    processes = [compute.start("secrets", "set", name, f"{key}=1") for key in ("A", "B", "C")]
    for process in processes:
        process.communicate(timeout=60)

    assert stored(compute, name) == dict.fromkeys("ABC", b"1")


def test_a_password_is_typed_unseen(compute, name):
    """On a terminal the value is asked for, and not shown."""
    with compute.terminal("secrets", "set", name, "PASSWORD=-") as terminal:
        terminal.until(r"Value of PASSWORD \(not shown\):")
        terminal.type("hunter2\n")
        assert terminal.ended() == 0

    assert "hunter2" not in terminal.text()
    assert f"secret/{name} created: 1 key set" in terminal.text()
    assert stored(compute, name) == {"PASSWORD": b"hunter2"}


def test_a_password_may_be_left_out(compute, name):
    """Ctrl-D ends the question, and nothing is created."""
    with compute.terminal("secrets", "set", name, "PASSWORD=-") as terminal:
        terminal.until(r"not shown\):")
        terminal.type("\x04")
        assert terminal.ended() == 130

    assert in_plane(compute, lambda client: client.find(Secret, name, "default")) is None


def test_mistakes(transcript, compute, name):
    """Each names what is wrong and where, but no value."""
    transcript.replace[name] = "lou"
    (compute.home / "wrong.env").write_text("A=1\nhunter2\n")
    set_ = ("secrets", "set", "no-such-secret")

    assert transcript("secrets", "set").code == 2
    assert transcript(*set_).code == 2
    assert transcript(*set_, "hunter2").code == 2
    assert transcript(*set_, "a b=hunter2").code == 2
    assert transcript(*set_, "A=1", "A=2").code == 2
    assert transcript(*set_, "A-").code == 7
    assert transcript(*set_, "--from-file", "A=absent.txt").code == 1
    assert transcript(*set_, "--from-env-file", "wrong.env").code == 1
    assert transcript("secrets", "set", "Data_Base", "A=1").code == 2
    assert transcript(*set_, "A=1", "-n", "no-such-namespace").code == 7
    assert transcript("secrets", "list", "--kubeconfig", kubeconfig_of(compute, name)).code == 1
    assert transcript("secrets", "get", "db").code == 2


def test_limits(transcript, compute, name):
    """What is too large or immutable is refused before anything is sent."""
    transcript.replace[name] = "db"
    large = compute.home / "large.bin"
    large.write_bytes(b"x" * (1024 * 1024))
    fixed = Secret(metadata=ObjectMeta(name=f"{name}-fixed", namespace="default"), immutable=True)
    create(compute, fixed)

    assert transcript("secrets", "set", name, "--from-file", "large.bin").code == 0
    assert transcript("secrets", "set", name, "ONE=more").code == 1
    assert transcript("secrets", "set", f"{name}-fixed", "ONE=more").code == 1
    large.unlink()
