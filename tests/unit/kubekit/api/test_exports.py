import pytest

from kubekit import api


@pytest.mark.parametrize("name", api.__all__)
def test_a_public_name_is_imported_when_it_is_used(name):
    assert getattr(api, name) is getattr(api, name)


def test_any_other_name_is_an_error():
    with pytest.raises(AttributeError, match=r"module 'kubekit.api' has no attribute 'Kind'"):
        getattr(api, "Kind")  # noqa: B009 -- the type checker knows that there is none
