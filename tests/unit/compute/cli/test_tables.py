"""Tables as text."""

from compute.cli.output.tables import plain, table


def test_columns_line_up():
    """Cells are padded to the widest of their column; no line ends in spaces."""
    assert table(("NAME", "CITY"), [("web", "DFW"), ("edge-cache", "LHR")]) == (
        "NAME         CITY\nweb          DFW\nedge-cache   LHR"
    )


def test_control_characters_are_escaped():
    """A name cannot move the cursor, colour the screen or start a line of its own."""
    assert plain("a\x1b[31mb\nc\u2028é") == "a\\x1b[31mb\\nc\\u2028é"
    assert table(("A",), [("\r",)]) == "A\n\\r"
