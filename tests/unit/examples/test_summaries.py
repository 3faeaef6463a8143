"""The example controller on an embedded plane, on virtual time."""

from compute.api.compute import Workload
from examples.summaries import controller
from kubekit.api.kinds.core import ConfigMap
from tests.support.compute.builders import workload
from tests.support.kubekit.stage import Stage, staged


def test_each_workload_gets_a_summary(tmp_path):
    async def story(stage: Stage) -> None:
        stage.start(controller(stage.factory, stage.role("project")))
        user = stage.client("demo")
        await user.create(workload())

        summary = await stage.named("demo", ConfigMap, "web-summary")
        assert summary.data == {"home": "DFW"}

        await user.delete(await user.get(Workload, "web", "default"))
        await stage.gone("demo", ConfigMap, "web-summary", "default")
        assert await stage.quiet(3600.0) == []  # an hour of virtual time without a write

    staged(tmp_path, story, ("project", "demo"))
