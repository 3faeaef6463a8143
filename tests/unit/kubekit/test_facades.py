"""What the packages re-export: each name is there, explained, and imported only when it is used."""

import subprocess
import sys

import pytest

import kubekit
import kubekit.api
import kubekit.cel
import kubekit.client
import kubekit.runtime

FACADES = (kubekit, kubekit.api, kubekit.cel, kubekit.client, kubekit.runtime)


@pytest.mark.parametrize("package", FACADES, ids=lambda package: package.__name__)
def test_every_public_name_is_there_and_explained(package):
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert name in package.__doc__, f"{name} is not explained"


@pytest.mark.parametrize("package", FACADES, ids=lambda package: package.__name__)
def test_an_unknown_name_is_an_attribute_error(package):
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        package.Nonsense  # noqa: B018


def test_the_options_are_imported_without_tls_and_yaml():
    code = "import sys, kubekit.client.options as _; print('ssl' in sys.modules, 'yaml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
