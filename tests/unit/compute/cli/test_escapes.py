"""What a terminal shows of text from outside: it cannot move the cursor or add a line."""

import json
from typing import Any

import pytest

from compute.cli.root import run

HOSTILE = "a\x1b[2J\x1b]0;title\x07\r\n\u2028\u2029\u0085\u009b31m\u202eb"
RAW = set(HOSTILE) - set("a[2J]0;title\n31mb")


def workload(text: str) -> dict[str, Any]:
    """A Workload with this text in every field where a user may write text."""
    return {
        "apiVersion": "compute.datumapis.com/v1alpha",
        "kind": "Workload",
        "metadata": {"name": text, "namespace": text, "labels": {text: text}},
        "spec": {
            "template": {
                "metadata": {"annotations": {text: text}},
                "spec": {
                    "runtime": {
                        "resources": {"instanceType": text},
                        "sandbox": {"containers": [{"name": text, "image": text}]},
                    },
                    "networkInterfaces": [{"network": {"name": text}}],
                },
            },
            "placements": [
                {"name": text, "cityCodes": [text], "scaleSettings": {"minReplicas": 1}}
            ],
            text: text,
        },
    }


DOCUMENTS = {
    "a workload": workload(HOSTILE),
    "another kind": {"kind": HOSTILE, "metadata": {"name": HOSTILE}},
    "a wrong type": {"kind": "Workload", "metadata": {"name": [HOSTILE]}, "spec": HOSTILE},
    "no kind": {HOSTILE: HOSTILE},
}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
@pytest.mark.parametrize("output", ["table", "json", "yaml"])
def test_l1_no_control_character_reaches_the_terminal(tmp_path, capsys, document, output):
    """In tables, data and errors, the text of a manifest or the name of a file is escaped."""
    file = tmp_path / "a\x1b[31m\u2028.json"
    file.write_text(json.dumps(document))
    run(["plan", "-f", str(file), "-o", output, "--cities", "DFW"])
    out, err = capsys.readouterr()

    assert out + err
    assert RAW & set(out + err) == set()


@pytest.mark.parametrize(
    "arguments", [[HOSTILE], ["plan", "-f", HOSTILE], ["plan", HOSTILE], [f"--{HOSTILE}"]]
)
def test_l1_arguments_are_escaped_as_well(capsys, arguments):
    """A sentence about a wrong value shows it in one line, and the next command is another."""
    run(arguments)
    out, err = capsys.readouterr()

    assert RAW & set(out + err) == set()
    assert err.count("\n") == 2
