"""Broken manifests beside the very errors a user is shown, and good ones that pass.

``broken/NN-what.yaml`` says in its first line what is wrong with it; ``NN-what.errors`` is what
comes out, one error a line.
"""

from pathlib import Path

import pytest
import yaml

from compute.decide.validation import Review, review_document
from tests.support.compute.validation_builders import CITIES

BROKEN = sorted(Path(__file__).with_name("broken").glob("*.yaml"))
EXAMPLES = Path(__file__).parents[5] / "examples"


def reviewed(path) -> Review:
    return review_document(yaml.safe_load(path.read_text()), cities=CITIES)


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_a_broken_manifest_is_refused_with_these_errors(path):
    """Every error, its order and its text, is the recorded one."""
    got = [str(error) for error in reviewed(path).errors]

    assert got == path.with_suffix(".errors").read_text().splitlines()


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_a_broken_manifest_says_what_is_wrong_with_it(path):
    """A reader can check the errors against a sentence."""
    first = path.read_text().splitlines()[0]

    assert first.startswith("# ")
    assert first.endswith(".")


def test_every_list_of_errors_has_its_manifest():
    """A renamed manifest does not leave its errors behind, and none is empty."""
    lists = sorted(Path(__file__).with_name("broken").glob("*.errors"))

    assert [path.stem for path in lists] == [path.stem for path in BROKEN]
    assert len(lists) >= 20
    assert all(path.read_text().strip() for path in lists)


@pytest.mark.parametrize("name", ["buildbox", "edge-cache", "greeter"])
def test_the_examples_are_right(name):
    """What we show to users passes without an error or a warning."""
    got = reviewed(EXAMPLES / f"{name}.yaml")

    assert (got.errors, got.warnings) == ((), ())
    assert [(use.namespace, use.name) for use in got.networks] == [("default", "default")]
