import re

import msgspec

from kubekit.plane.http.openapi import version


def test_version_is_one_that_clients_can_read():
    """Clients parse the minor version as a number and the git version as a semantic version."""
    got = msgspec.json.decode(version.document())
    assert got["major"] == "1"
    assert int(got["minor"]) >= 30
    assert re.fullmatch(r"v1\.\d+\.\d+\+compute", got["gitVersion"])


def test_every_field_is_text():
    """Typed clients expect a string in each field."""
    got = msgspec.json.decode(version.document())
    assert {type(value) for value in got.values()} == {str}
