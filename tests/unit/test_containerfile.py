"""The Containerfile, the script that it runs and the manifests that use the image agree."""

import re
import tomllib
from pathlib import Path

import yaml

from tools import image

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TEXT = (ROOT / "Containerfile").read_text()
LINES = TEXT.splitlines()


def test_the_steps_are_those_that_the_test_of_the_image_runs() -> None:
    """From the lock, with the version of the product and the time of the script."""
    assert "RUN python3 tools/setup.py --installer" in LINES
    assert "RUN python3 tools/image.py build /tree" in LINES
    assert f"ARG VERSION={PROJECT['version']}" in LINES
    assert f"ARG SOURCE_DATE_EPOCH={image.EPOCH}" in LINES
    assert f'ENV PATH="/{image.PREFIX}/bin:${{PATH}}"' in LINES


def test_everything_that_is_copied_is_in_the_build_context() -> None:
    """And nothing else of the working tree, so that the context is small and has no secrets."""
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", TEXT, re.MULTILINE)
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    names = {name for line in copied for name in line.split()}
    assert {line[1:] for line in ignored if line.startswith("!")} == names
    assert "*" in ignored


def test_the_manifests_run_what_is_in_the_image() -> None:
    """The command, the user and the version."""
    deployment = yaml.safe_load((ROOT / "config/base/manager/deployment.yaml").read_text())
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (command,) = container["command"]
    assert f'ENTRYPOINT ["{command}"]' in LINES
    security = pod["securityContext"]
    assert f"USER {security['runAsUser']}:{security['runAsGroup']}" in LINES
    assert container["image"] == f"{command}:{PROJECT['version']}"
