"""`compute configmaps`, on a running world."""

import base64

import pytest

from compute.api import names
from kubekit.api.kinds.core import ConfigMap
from tests.support.compute.project_objects import (
    create,
    create_namespace,
    in_plane,
    kubeconfig_of,
    wanted,
)
from tests.support.compute.store_builders import files, using

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def namespace(compute, name):
    """A namespace whose ConfigMaps no other test sees."""
    create_namespace(compute, name)
    return name


def test_text_and_what_is_no_text(transcript, compute, namespace):
    """Text stays text, the rest goes to the binary data, and a key may change from one to the other."""
    transcript.replace[namespace] = "back"
    (compute.home / "logo.png").write_bytes(PNG)
    at = ("-n", namespace)

    transcript("configmaps", *at)
    transcript("configmaps", "set", "site", "TITLE=Café", "logo=none", *at)
    transcript("configmaps", "set", "site", "--from-file", "logo=logo.png", *at)
    transcript("configmaps", "set", "site", "--from-file", "logo=logo.png", *at)
    transcript("configmaps", "set", "site", "NAME=web", "TITLE-", "-o", "json", *at)
    transcript("configmaps", "list", *at)

    assert [run.code for run in transcript.runs] == [0] * 6
    site = in_plane(compute, lambda client: client.get(ConfigMap, "site", namespace))
    assert site.data == {"NAME": "web"}
    assert {key: base64.b64decode(v) for key, v in site.binary_data.items()} == {"logo": PNG}


def test_files_of_a_workload(shop_transcript, shop):
    """A volume has all keys, so any change needs a restart. Histories are not listed."""
    create(shop, wanted("web", of=using(files("pages"))))

    shop_transcript("configmaps", "set", "pages", "index.html=hello")
    shop_transcript("configmaps", "set", "pages", "index.html=hello")
    shop_transcript("configmaps", "list", "-o", "wide")


def test_mistakes(transcript, compute, name):
    """Each names what is wrong and where."""
    transcript.replace[name] = "lou"
    set_ = ("configmaps", "set", "no-such-map")
    viewer = kubeconfig_of(compute, name)

    assert transcript(*set_, "LOG_LEVEL").code == 2
    assert transcript(*set_, "LOG/LEVEL=debug").code == 2
    assert transcript(*set_, "LOG_LEVEL-").code == 7
    assert transcript(*set_, "A=1", "--kubeconfig", viewer).code == 1
    assert transcript("configmaps", "set", names.history("web"), "1=x").code == 1
