"""Curves as SVG."""

from xml.etree import ElementTree

import pytest

from bench.load.world.growth import Curve
from bench.load.world.pictures import Chart, drawn

CHART = Chart("a < b & c", "across", "up")
SVG = "{http://www.w3.org/2000/svg}"


def lines_of(*curves: Curve) -> list[list[tuple[float, float]]]:
    picture = ElementTree.fromstring(drawn(CHART, curves))
    return [
        [(float(x), float(y)) for x, y in (at.split(",") for at in line.attrib["points"].split())]
        for line in picture.iter(f"{SVG}polyline")
    ]


def test_every_curve_is_a_line_with_a_name():
    """A picture is well-formed whatever its words are, and names each of its lines."""
    curves = [Curve("1 city", [(1, 1.0), (10, 9.0)]), Curve("<2>", [(1, 2.0), (10, 20.0)])]
    picture = ElementTree.fromstring(drawn(CHART, curves))
    words = [each.text for each in picture.iter(f"{SVG}text")]
    assert {"a < b & c", "across", "up", "1 city", "<2>"} <= set(words)
    assert len(list(picture.iter(f"{SVG}polyline"))) == 2


def test_both_axes_are_logarithmic():
    """Equal factors are equal distances, so a power is a straight line."""
    (((x0, y0), (x1, y1), (x2, y2)),) = lines_of(Curve("", [(1, 1.0), (10, 10.0), (100, 100.0)]))
    assert x1 - x0 == pytest.approx(x2 - x1)
    assert y0 - y1 == pytest.approx(y1 - y2)
    assert x0 < x1
    assert y0 > y1  # up is less


def test_everything_stays_within_the_picture():
    """No point lies outside of the frame, however far the curves are apart."""
    for line in lines_of(Curve("", [(1, 0.003), (7, 5.0)]), Curve("", [(90_000, 12_345.0)])):
        assert all(70 <= x <= 490 and 40 <= y <= 350 for x, y in line)


def test_what_has_no_logarithm_is_left_out():
    """A cost of nothing has no place on the axes, and does not spoil the rest."""
    ((only,),) = lines_of(Curve("", [(1, 0.0), (10, 1.0)]))
    assert only


def test_nothing_cannot_be_drawn():
    """A picture without any point is refused by its title."""
    with pytest.raises(ValueError, match="a < b & c"):
        drawn(CHART, [Curve("", [(1, 0.0)])])
