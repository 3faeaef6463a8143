"""The public keys that open a virtual machine."""

import base64

import pytest

from compute.decide.validation import ssh_keys, validate
from kubekit.api.fields import Problem
from tests.support.compute.validation_builders import (
    ED25519,
    SSH_KEYS,
    blamed,
    decoded,
    errors_of,
    machine,
    sandbox,
)

ANNOTATIONS = "spec/template/metadata/annotations"
AT = f"spec.template.metadata.annotations[{SSH_KEYS}]"


def key(kind, *lengths, says=None):
    """A key of a type whose fields have these lengths; ``says`` is the type inside, if another."""
    fields = [(says or kind).encode(), *(b"\x01" * length for length in lengths)]
    blob = b"".join(len(field).to_bytes(4) + field for field in fields)
    return f"{kind} {base64.b64encode(blob).decode()}"


@pytest.mark.parametrize(
    "entry",
    [
        key("ssh-ed25519", 32),
        key("ssh-rsa", 3, 257),
        key("ecdsa-sha2-nistp256", 8, 65),
        key("ecdsa-sha2-nistp384", 8, 97),
        key("ecdsa-sha2-nistp521", 8, 133),
        key("sk-ssh-ed25519@openssh.com", 32, 4),
        key("sk-ecdsa-sha2-nistp256@openssh.com", 8, 65, 4),
        f"{ED25519} ops@example.test and more words",
        f"no-pty,restrict {ED25519}",
        f'command="echo \\"a b\\"",from="10.0.0.0/8, ::1" {ED25519} me',
        f"  {ED25519}",
    ],
    ids=lambda entry: entry[:24],
)
def test_entries_of_authorized_keys_are_right(entry):
    """Every type of key in use, with or without options and a comment."""
    assert list(ssh_keys.faults(f"ops:{entry}")) == []


def test_several_lines_are_several_logins():
    """Blank lines around the list, and line ends of any system, do no harm."""
    assert list(ssh_keys.faults(f"\n\nops:{ED25519}\r\ndev:{ED25519}\n")) == []


NO_TYPE = "the key has no known type"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("ops", "write user:key"),
        ("", "write user:key"),
        (f":{ED25519}", "name one user before the ':'"),
        (f"{ED25519} me:you", "name one user before the ':'"),
        ("ops:", "no key follows the user"),
        ("ops: ssh-ed25519", "the key itself is missing"),
        ("ops:AAAAC3NzaC1lZDI1NTE5", NO_TYPE),
        ("ops:ssh-dss AAAA", NO_TYPE),
        ("ops:no-pty", NO_TYPE),
        (f'ops:command="sh {ED25519}', "a quote in the options of the key is not closed"),
        ("ops:ssh-ed25519 not-base64!", "the key is not base64"),
        ("ops:ssh-ed25519 AAAAC", "the key is not base64"),
        ("ops:ssh-ed25519 \N{LATIN SMALL LETTER E WITH ACUTE}", "the key is not base64"),
        (f"ops:{ED25519[:60]}", "the key is cut short"),
        ("ops:ssh-ed25519 AAAA", "the key is cut short"),
        ("ops:ssh-ed25519 =", "the key is not base64"),
        (f"ops:{key('ssh-rsa', 32, says='ssh-ed25519')}", "the line names the type ssh-rsa"),
        (f"ops:{key('ssh-ed25519', 31)}", "the key does not have the parts of a ssh-ed25519 key"),
        (f"ops:{key('ssh-rsa', 3)}", "the key does not have the parts of a ssh-rsa key"),
    ],
)
def test_a_wrong_line_is_named_by_its_number(line, fault):
    """The message says which line is wrong, and why, and shows nothing of it."""
    (got,) = ssh_keys.faults(f"ops:{ED25519}\n{line}\nops:{ED25519}")

    assert got.startswith(f"line 2: {fault}")
    secret = line.rpartition(" ")[2]
    assert len(secret) < 20 or secret not in got


def test_a_private_key_is_detected_and_not_shown():
    """A pasted private key must be replaced; the message repeats none of it."""
    pasted = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----"
    (got,) = errors_of(machine({ANNOTATIONS: {SSH_KEYS: pasted}}))

    assert got == (
        f'{AT}: Invalid value: "(not shown)": '
        "this is a private key: remove it, replace that key pair, and give the public half"
    )


@pytest.mark.parametrize("annotations", [{}, {SSH_KEYS: ""}, {SSH_KEYS: " \n"}])
def test_trap16_a_machine_needs_a_login(annotations):
    """Without a key no login is possible; the path is that of the template's metadata."""
    assert blamed(machine({ANNOTATIONS: annotations})) == [(AT, Problem.REQUIRED)]


def test_every_wrong_line_is_reported():
    """All mistakes at once, each with its line."""
    got = errors_of(machine({ANNOTATIONS: {SSH_KEYS: f"ops\nops:{ED25519}\nops:"}}))

    assert got == [
        f'{AT}: Invalid value: "(not shown)": '
        "line 1: write user:key, such as ops:ssh-ed25519 followed by the key",
        f'{AT}: Invalid value: "(not shown)": line 3: no key follows the user',
    ]


def test_keys_of_a_sandbox_are_not_used():
    """Containers have no logins: the keys are not validated, and there is a warning."""
    document = sandbox({"spec/template/metadata": {"annotations": {SSH_KEYS: "anything"}}})
    review = validate(decoded(document), cities=("DFW",))

    assert review.errors == ()
    assert review.warnings == (f"{AT}: only virtual machines have logins; this is not used",)
