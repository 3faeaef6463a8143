"""The command line, unchanged, on a project whose platform is on real clusters."""

import pytest

from tests.support.compute import cli_life
from tests.support.compute.cli_runner import CommandLine

pytestmark = [pytest.mark.stack, pytest.mark.e2e, pytest.mark.slow, pytest.mark.long]


def test_the_life_of_a_workload(platform, tmp_path):
    """Nothing but the kubeconfig of the project is needed."""
    kubeconfig = str(platform.stack.kubeconfig_of("project"))
    variables = {"KUBECONFIG": kubeconfig, "COMPUTE_DATA": ""}
    cli_life.live(CommandLine(tmp_path, tmp_path / "nowhere", variables))
