"""Which credential a manager uses on which plane."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from compute.app.manager.connections import Connections, connections
from compute.app.manager.manager_process import manager_setup
from compute.app.manager.operator_config import BadConfig, DiscoverySettings
from compute.app.manager.options import STAND_INS, ManagerOptions
from kubekit.api.errors import NotFound
from kubekit.client.connection import Misconfigured
from tests.support.kubekit.store_builders import environment

OPTIONS = ManagerOptions(cell=True)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """A kubeconfig for each plane, whose server has its name."""
    return {name: _kubeconfig(tmp_path, name) for name in ("own", "hub", "core", "shops", "quota")}


def _kubeconfig(folder: Path, name: str) -> Path:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": f"https://{name}.example.test"}}],
        "contexts": [{"name": name, "context": {"cluster": name}}],
        "current-context": name,
    }
    file = folder / f"{name}.yaml"
    file.write_text(json.dumps(document))
    return file


def connected(options: ManagerOptions, **discovery: object) -> Connections:
    settings = DiscoverySettings(**{name: str(value) for name, value in discovery.items()})  # type: ignore[arg-type]
    return connections(options, settings, environment(), {})


def own(files: dict[str, Path], **changes: object) -> ManagerOptions:
    return replace(OPTIONS, kubeconfig=files["own"], **changes)  # type: ignore[arg-type]


def test_the_single_project_is_the_own_cluster(files):
    links = connected(own(files))

    assert links.core is None
    assert links.projects.connection("single").server == "https://own.example.test"
    with pytest.raises(NotFound, match=r"there is no project shop: discovery\.mode is single"):
        links.projects.connection("shop")


def test_a_project_of_milo_is_a_path(files):
    links = connected(own(files), mode="milo", discovery_kubeconfig_path=files["core"])

    assert links.core is not None
    assert links.core.server == "https://core.example.test"
    assert links.projects.connection("shop").server == (
        "https://core.example.test/apis/resourcemanager.miloapis.com/v1alpha1/projects/shop/control-plane"
    )


def test_inside_of_milo_a_project_has_an_address_of_its_own(files):
    settings = DiscoverySettings(mode="milo", internal_service_discovery=True)
    links = connections(own(files), settings, environment(), {})

    assert links.projects.connection("shop").server == (
        "https://milo-apiserver.project-shop.svc.cluster.local:6443"
    )


def test_projects_may_have_a_credential_of_their_own(files):
    links = connected(
        own(files),
        mode="milo",
        discovery_kubeconfig_path=files["core"],
        project_kubeconfig_path=files["shops"],
    )

    assert links.projects.server.server == "https://shops.example.test"
    assert links.quota is not None
    assert links.quota.server.server == "https://shops.example.test"


def test_without_a_quota_credential_there_is_no_quota(files):
    """The own cluster is never asked instead: it has no claims, or those of another plane."""
    assert connected(own(files)).quota is None
    assert connected(own(files), mode="milo").quota is None
    assert connected(own(files), quota_kubeconfig_path=files["quota"]).quota is not None


def test_one_cluster_that_is_its_own_quota_service_needs_no_credential(files):
    options = own(files, management=True, stand_ins=STAND_INS)
    links = connected(options)

    assert links.quota is not None
    assert links.quota.connection("single").server == "https://own.example.test"


def test_a_credential_that_is_named_must_be_there(files, tmp_path):
    missing = tmp_path / "none.yaml"
    for wrong in ({"quota_kubeconfig_path": missing}, {"project_kubeconfig_path": missing}):
        with pytest.raises(Misconfigured, match=r"none\.yaml: cannot be read"):
            connected(own(files), **wrong)
    with pytest.raises(Misconfigured, match="there is no context"):
        connected(own(files, federation_kubeconfig=files["hub"], federation_context="x"))


def test_outside_of_a_pod_the_own_cluster_must_be_named(files):
    with pytest.raises(Misconfigured, match="give --kubeconfig, or set KUBECONFIG"):
        connected(OPTIONS)
    variables = {"KUBECONFIG": str(files["own"])}
    links = connections(OPTIONS, DiscoverySettings(), environment(), variables)
    assert links.own.server == "https://own.example.test"


def _setup(folder: Path, options: ManagerOptions, text: str) -> str:
    """The name of the cell, with this configuration."""
    file = folder / "config.yaml"
    file.write_text(text)
    return manager_setup(replace(options, server_config=file), environment(), {}).cell


def test_only_a_cell_with_quota_needs_its_name(files, tmp_path):
    hub = {"federation_kubeconfig": files["hub"]}
    quota = f"discovery: {{quotaKubeconfigPath: {files['quota']}}}"
    named = f"discovery: {{quotaKubeconfigPath: {files['quota']}, clusterName: dfw}}"

    assert _setup(tmp_path, own(files, **hub), named) == "dfw"
    assert _setup(tmp_path, own(files, **hub), "{}") == "single"
    assert _setup(tmp_path, own(files, cell=False, management=True, **hub), "{}") == "single"
    with pytest.raises(BadConfig, match=r"discovery\.clusterName: a cell with quota"):
        _setup(tmp_path, own(files, **hub), quota)


def test_settings_that_do_not_fit_the_options_are_refused(files, tmp_path):
    with pytest.raises(BadConfig, match="webhookServer: only management serves webhooks"):
        _setup(tmp_path, own(files), "webhookServer: {}")
    options = own(files, management=True, stand_ins=("projects",))
    with pytest.raises(BadConfig, match=r"discovery\.mode: the stand-in for projects"):
        _setup(tmp_path, options, "discovery: {mode: milo, clusterName: dfw}")
