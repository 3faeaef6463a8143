"""The Grafana dashboard of a manager, made from the metrics that its parts declare.

A counter is shown as a rate, a gauge as it is, a point in time as the time until then, a histogram as its
median and its 99th percentile; each by its own labels. A metric that is added is on the dashboard after `make generate`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from compute.app.system_environment import system
from compute.controllers.cell.instance.quota_metrics import quota_metrics
from compute.controllers.management.fleet_metrics import fleet_metrics
from compute.controllers.management.planes import ManagementPlanes
from compute.services.quota.leaks import Leaks
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.reporting.events import EventRecorder
from kubekit.runtime.reporting.metrics import Metrics
from kubekit.runtime.serving.webhook_metrics import WebhookMetrics

_WIDTH, _HEIGHT, _COLUMNS = 8, 7, 3
_SELECTOR: Final = '{namespace="$namespace"}'
_QUANTILES: Final = ("0.5", "0.99")
_TIMESTAMP: Final = "_timestamp_seconds"
_UNITS: Final = {"seconds": "s", "bytes": "bytes"}


def declared() -> list[tuple[str, list[Metric]]]:
    """The metrics of each part, by the title of its row."""
    environment = system()
    planes = ManagementPlanes(Clusters("project", environment), Clusters("hub", environment))
    fleet = fleet_metrics(CollectorRegistry())
    fleet.watch(planes, environment)
    leaks = Leaks(planes.hub, EventRecorder("quota", "dashboard", environment))
    rows: list[tuple[str, Sequence[Collector]]] = [
        ("Workloads and Instances", (fleet,)),
        ("Quota", (quota_metrics(CollectorRegistry()), leaks)),
        ("Admission", (WebhookMetrics(("/",), environment.now),)),
        ("Controllers", (Metrics(),)),
    ]
    return [(title, [m for each in parts for m in each.collect()]) for title, parts in rows]


def names(metric: Metric) -> list[str]:
    """The names of the series of a metric, as a query has them."""
    match metric.type:
        case "counter":
            return [f"{metric.name}_total"]
        case "histogram":
            return [f"{metric.name}_{part}" for part in ("bucket", "count", "sum")]
        case _:
            return [metric.name]


def dashboard() -> str:
    """The dashboard, as Grafana imports it."""
    content = {
        "title": "Compute manager",
        "uid": "compute-manager",
        "tags": ["compute"],
        "editable": False,
        "refresh": "30s",
        "schemaVersion": 39,
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [_source(), _namespace()]},
        "panels": list(_panels(declared())),
    }
    return json.dumps(content, indent=1) + "\n"


def _panels(rows: Iterable[tuple[str, Sequence[Metric]]]) -> Iterator[dict[str, Any]]:
    number, top = 0, 0
    for title, metrics in rows:
        number += 1
        yield {
            "id": number,
            "type": "row",
            "title": title,
            "collapsed": False,
            "gridPos": {"h": 1, "w": _WIDTH * _COLUMNS, "x": 0, "y": top},
            "panels": [],
        }
        for position, metric in enumerate(metrics):
            number += 1
            line, column = divmod(position, _COLUMNS)
            place = {"x": column * _WIDTH, "y": top + 1 + line * _HEIGHT}
            yield _panel(metric) | {
                "id": number,
                "gridPos": {"h": _HEIGHT, "w": _WIDTH, **place},
            }
        top += 1 + -(-len(metrics) // _COLUMNS) * _HEIGHT


def _panel(metric: Metric) -> dict[str, Any]:
    queries = list(_queries(metric))
    return {
        "type": "timeseries",
        "title": metric.name,
        "description": metric.documentation,
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "fieldConfig": {"defaults": {"unit": _unit(metric), "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + index), "expr": expression, "legendFormat": legend}
            for index, (expression, legend) in enumerate(queries)
        ],
    }


def _queries(metric: Metric) -> Iterator[tuple[str, str]]:
    """Each expression, and the legend of its series."""
    labels = [label for label in _labels(metric) if label != "le"]
    legend = " ".join(f"{{{{{label}}}}}" for label in labels) or metric.name
    by = f" by ({', '.join(labels)})" if labels else ""
    match metric.type:
        case "counter":
            yield f"sum{by} (rate({metric.name}_total{_SELECTOR}[$__rate_interval]))", legend
        case "histogram":
            buckets = f"rate({metric.name}_bucket{_SELECTOR}[$__rate_interval])"
            grouped = f"sum by ({', '.join((*labels, 'le'))}) ({buckets})"
            for quantile in _QUANTILES:
                yield f"histogram_quantile({quantile}, {grouped})", f"{legend} p{quantile[2:]}"
        case _ if metric.name.endswith(_TIMESTAMP):
            yield f"min{by} ({metric.name}{_SELECTOR}) - time()", f"in {legend}"
        case _:
            yield f"max{by} ({metric.name}{_SELECTOR})", legend


def _labels(metric: Metric) -> tuple[str, ...]:
    return tuple(metric._labelnames)  # type: ignore[attr-defined] # noqa: SLF001 - families have them


def _unit(metric: Metric) -> str:
    last = metric.name.rpartition("_")[2]
    return _UNITS.get(last, "cps" if metric.type == "counter" else "short")


def _source() -> dict[str, Any]:
    return {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Source"}


def _namespace() -> dict[str, Any]:
    return {
        "name": "namespace",
        "type": "query",
        "label": "Namespace",
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "query": "label_values(leader_election_master_status, namespace)",
        "refresh": 2,
    }
