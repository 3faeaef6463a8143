"""The controller that the docs show, as a process against a plane."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
import yaml
from kubernetes import client, config, watch

from tests.support.kubekit.plane_process import running

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
WORKLOADS = ("compute.datumapis.com", "v1alpha", "default", "workloads")


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    with running(tmp_path / "data") as plane:
        yield plane.kubeconfig


def started(kubeconfig: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, str(ROOT / "examples" / "summaries.py"), str(kubeconfig)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def summaries(connections: Any) -> dict[str, str]:
    """The data of the first summary that is there, or comes."""
    core = client.CoreV1Api(connections)
    events = watch.Watch().stream(core.list_namespaced_config_map, "default", timeout_seconds=30)
    for event in events:
        if event["object"].metadata.name == "edge-cache-summary":
            found: dict[str, str] = event["object"].data
            return found
    raise AssertionError("no summary was made")


def test_it_works_reports_that_it_is_ready_and_stops_cleanly(kubeconfig: Path) -> None:
    """A Workload gets its summary, the pages answer, and SIGTERM ends it with 0."""
    process = started(kubeconfig)
    try:
        assert process.stdout is not None
        page = process.stdout.readline().strip()
        with config.new_client_from_config(str(kubeconfig)) as connections:
            objects = client.CustomObjectsApi(connections)
            objects.create_namespaced_custom_object(*WORKLOADS, _manifest())
            made = summaries(connections)
        ready, metrics = _read(page), _read(page.replace("readyz", "metrics"))
    finally:
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=30)

    assert made == {"americas": "DFW,DLS", "europe": "LHR"}
    assert ready == "ok"
    assert 'controller_runtime_reconcile_total{controller="summaries",result="success"}' in metrics
    assert 'rest_client_requests_total{code="201"' in metrics
    assert process.returncode == 0, log
    assert "msg=leading " in log


def _manifest() -> Any:
    return yaml.safe_load((ROOT / "examples" / "edge-cache.yaml").read_text())


def _read(page: str) -> str:
    try:
        with urlopen(page, timeout=10) as answer:
            body: bytes = answer.read()
    except HTTPError as refusal:
        body = refusal.read()
    return body.decode()
