"""The table of the world's cities."""

from compute.api.cities import CITIES


def test_the_table_of_cities_is_sound():
    """Codes are three capitals in order, places are on the globe, countries have two letters."""
    assert len(CITIES) >= 150
    assert list(CITIES) == sorted(CITIES)
    assert all(len(code) == 3 and code.isupper() for code in CITIES)
    assert all(-90 <= c.latitude <= 90 and -180 <= c.longitude <= 180 for c in CITIES.values())
    assert all(len(c.country) == 2 and c.name for c in CITIES.values())
