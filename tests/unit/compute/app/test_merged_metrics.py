"""The metrics of several managers on one page."""

from compute.app.merged_metrics import MergedMetrics
from kubekit.runtime.reporting.metrics import Metrics
from tests.support.kubekit.virtual_time import run


def test_managers_count_under_the_same_names_and_are_distinguished():
    """A family is there once, with a sample of each manager."""
    managers = {"management": Metrics(), "dfw": Metrics()}
    for name, workers in (("management", 4), ("dfw", 8)):
        managers[name].controller("minder").workers = workers

    async def text() -> str:
        return MergedMetrics(lambda: managers).text().decode()

    lines = run(text()).splitlines()
    family = "controller_runtime_max_concurrent_reconciles"
    assert [line for line in lines if line.startswith(f"# TYPE {family} ")] == [
        f"# TYPE {family} gauge"
    ]
    assert f'{family}{{controller="minder",manager="management"}} 4.0' in lines
    assert f'{family}{{controller="minder",manager="dfw"}} 8.0' in lines
