"""The cells of a world."""

import pytest

from compute.api.karmada import ClusterSpec, MemberCluster
from compute.app.sites import MOST, BadCities, CellSite, merged, site_of, sites
from kubekit.api.meta import ObjectMeta


def test_each_city_has_a_cell_named_after_it():
    """A city that is named twice has two."""
    assert sites(["DFW", "LHR", "DFW"]) == [
        CellSite("dfw", "DFW"),
        CellSite("lhr", "LHR"),
        CellSite("dfw-2", "DFW"),
    ]


@pytest.mark.parametrize(
    ("cities", "error"),
    [
        ([], "no city is named"),
        (["dfw"], "'dfw' is not a city code"),
        (["D W"], "is not a city code"),
        (["DFW!"], "is not a city code"),
        (["D" * 64], "is not a city code"),
        (["DFW"] * (MOST + 1), "at most 200"),
    ],
)
def test_bad_cities_are_named(cities, error):
    """The sentence says which, and how a city is written."""
    with pytest.raises(BadCities, match=error):
        sites(cities)


def test_the_cluster_of_a_cell_names_its_city():
    """What is written on the hub is read again; a cluster of no city is no cell."""
    site = CellSite("dfw", "DFW")
    assert site_of(site.cluster) == site
    other = MemberCluster(metadata=ObjectMeta(name="x"), spec=ClusterSpec(sync_mode="Push"))
    assert site_of(other) is None


def test_existing_cells_stay():
    """Not naming a city again is no wish to lose what runs there."""
    known = {"dfw": CellSite("dfw", "DFW")}
    assert list(merged(known, sites(["LHR"]))) == ["dfw", "lhr"]
    assert merged(known, sites(["DFW"])) == known
