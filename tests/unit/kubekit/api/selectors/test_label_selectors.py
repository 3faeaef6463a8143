"""Label selectors: both forms, and what they mean."""

import pytest
from hypothesis import given, strategies as st

from kubekit.api.meta import LabelSelector, LabelSelectorRequirement
from kubekit.api.selectors import label_selectors
from kubekit.api.selectors.label_selectors import Operator, Requirement, Selector, SelectorError

MEGABYTE = 1_000_000

keys = st.sampled_from(["a", "b", "in", "notin", "example.com/c", "D_1"])
words = st.sampled_from(["", "x", "y", "in", "notin", "5", "007", "a.b-c"])
bounds = st.sampled_from(["0", "5", "007"])
labels = st.dictionaries(keys, words)
blanks = st.sampled_from(["", "", " ", "\t", " \r\n"])
requirements = st.one_of(
    st.builds(Requirement, keys, st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST])),
    st.builds(
        Requirement,
        keys,
        st.sampled_from([Operator.IN, Operator.NOT_IN]),
        st.frozensets(words, min_size=1),
    ),
    st.builds(
        Requirement,
        keys,
        st.sampled_from([Operator.EQUALS, Operator.DOUBLE_EQUALS, Operator.NOT_EQUALS]),
        words.map(lambda word: frozenset([word])),
    ),
    st.builds(
        Requirement,
        keys,
        st.sampled_from([Operator.GREATER_THAN, Operator.LESS_THAN]),
        bounds.map(lambda bound: frozenset([bound])),
    ),
)
wire_requirements = st.one_of(
    st.builds(
        LabelSelectorRequirement,
        key=keys,
        operator=st.sampled_from(["In", "NotIn"]),
        values=st.frozensets(words, min_size=1).map(lambda values: tuple(sorted(values))),
    ),
    st.builds(
        LabelSelectorRequirement, key=keys, operator=st.sampled_from(["Exists", "DoesNotExist"])
    ),
)
typed_selectors = st.builds(
    LabelSelector,
    match_labels=labels,
    match_expressions=st.lists(wire_requirements).map(
        lambda wire: tuple(sorted(wire, key=lambda one: one.key))
    ),
)


def required(key, operator, *values):
    return Requirement(key, operator, frozenset(values))


def naive_match(requirement, carried):
    """What the Kubernetes documentation says of each operator, side by side."""
    present = requirement.key in carried
    value = carried.get(requirement.key, "")
    listed = value in requirement.values
    bound = "".join(requirement.values)
    numbers = present and value.isdecimal() and bound.isdecimal()
    return {
        Operator.EXISTS: present,
        Operator.DOES_NOT_EXIST: not present,
        Operator.EQUALS: present and listed,
        Operator.DOUBLE_EQUALS: present and listed,
        Operator.IN: present and listed,
        Operator.NOT_EQUALS: not present or not listed,
        Operator.NOT_IN: not present or not listed,
        Operator.GREATER_THAN: numbers and int(value) > int(bound),
        Operator.LESS_THAN: numbers and int(value) < int(bound),
    }[requirement.operator]


@st.composite
def spellings(draw):
    """Requirements, and one of the many ways to write them down."""
    wanted = draw(st.lists(requirements, max_size=5))
    written = []
    for requirement in wanted:
        text = str(requirement)
        for symbol in ("!=", "==", "(", ")", ","):
            text = text.replace(symbol, f"{draw(blanks)}{symbol}{draw(blanks)}")
        written.append(text)
    return wanted, f"{draw(blanks)},{draw(blanks)}".join(written)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", [required("a", Operator.EQUALS, "b")]),
        ("a==b", [required("a", Operator.DOUBLE_EQUALS, "b")]),
        ("a!=b", [required("a", Operator.NOT_EQUALS, "b")]),
        ("a=", [required("a", Operator.EQUALS, "")]),
        ("a!=,b", [required("a", Operator.NOT_EQUALS, ""), required("b", Operator.EXISTS)]),
        ("a", [required("a", Operator.EXISTS)]),
        ("!a", [required("a", Operator.DOES_NOT_EXIST)]),
        (" ! a ", [required("a", Operator.DOES_NOT_EXIST)]),
        ("a in (x,y)", [required("a", Operator.IN, "x", "y")]),
        ("a in(x)", [required("a", Operator.IN, "x")]),
        ("a notin ( x , y )", [required("a", Operator.NOT_IN, "x", "y")]),
        ("a in ()", [required("a", Operator.IN, "")]),
        ("a in (,)", [required("a", Operator.IN, "")]),
        ("a in (x,)", [required("a", Operator.IN, "x", "")]),
        ("a in (,x)", [required("a", Operator.IN, "x", "")]),
        ("a in (x,,y)", [required("a", Operator.IN, "x", "", "y")]),
        ("a in (x,x)", [required("a", Operator.IN, "x")]),
        ("a>1", [required("a", Operator.GREATER_THAN, "1")]),
        ("a < 5", [required("a", Operator.LESS_THAN, "5")]),
        ("in in (in,notin)", [required("in", Operator.IN, "in", "notin")]),
        ("notin", [required("notin", Operator.EXISTS)]),
        ("a=in", [required("a", Operator.EQUALS, "in")]),
        ("example.com/a=b", [required("example.com/a", Operator.EQUALS, "b")]),
        ("b,a", [required("a", Operator.EXISTS), required("b", Operator.EXISTS)]),
        ("a=1,a=2", [required("a", Operator.EQUALS, "1"), required("a", Operator.EQUALS, "2")]),
        ("", []),
        (" \t\r\n", []),
    ],
)
def test_parse(text, expected):
    """Every form of requirement is understood; requirements are ordered by key."""
    assert label_selectors.parse(text) == Selector(tuple(expected))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,", "'a,', character 3: expected a label key, found the end"),
        (",a", "',a', character 1: expected a label key, found ','"),
        ("a,,b", "'a,,b', character 3: expected a label key, found ','"),
        ("!", "'!', character 2: expected a label key, found the end"),
        ("=b", "'=b', character 1: expected a label key, found '='"),
        ("!!a", "'!!a', character 2: expected a label key, found '!'"),
        ("!a=b", "'!a=b', character 3: expected ',' or the end, found '='"),
        ("a b", "'a b', character 3: expected ',' or one of = == != in notin > <, found 'b'"),
        ("a!", "'a!', character 2: expected ',' or one of = == != in notin > <, found '!'"),
        ("a in x", "'a in x', character 6: expected '(', found 'x'"),
        ("a in", "'a in', character 5: expected '(', found the end"),
        ("a in (x", "'a in (x', character 8: expected ',' or ')', found the end"),
        ("a in (x y)", "'a in (x y)', character 9: expected ',' or ')', found 'y'"),
        ("a in ((x)", "'a in ((x)', character 7: expected ',' or ')', found '('"),
        ("a in (x))", "'a in (x))', character 9: expected ',' or the end, found ')'"),
        ("a==(b)", "'a==(b)', character 4: expected ',' or the end, found '('"),
        ("a===b", "'a===b', character 4: expected ',' or the end, found '='"),
        ("a=b c", "'a=b c', character 5: expected ',' or the end, found 'c'"),
        ("b, -a", "'b, -a', character 4: label key '-a' is not valid: it must be"),
        ("a=-", "'a=-', character 1: label a: value '-' is not valid: it must be"),
        ("a>x", "'a>x', character 1: label a: value 'x' is not valid: operator > compares"),
        ("a>", "'a>', character 1: label a: value '' is not valid: operator > compares"),
        ("a\0", r"'a\x00', character 1: label key 'a\x00' is not valid: it must be"),
    ],
)
def test_what_is_no_selector_is_refused(text, message):
    """The message shows the text, the place in it, and what was expected there."""
    with pytest.raises(SelectorError) as caught:
        label_selectors.parse(text)

    assert str(caught.value).startswith(f"label selector {message}")


def test_printing_is_ordered():
    """Keys and values come out sorted, so that equal selectors read alike."""
    assert str(label_selectors.parse("z,b in (2,1),!a , c=")) == "!a,b in (1,2),c=,z"


@pytest.mark.parametrize("carried", [{}, {"a": "b"}, {"nothing": ""}])
def test_everything_and_nothing(carried):
    """Everything matches any labels; nothing matches none, also after it was sent as text."""
    assert label_selectors.EVERYTHING.matches(carried)
    assert label_selectors.parse("") == label_selectors.EVERYTHING
    assert not label_selectors.NOTHING.matches(carried)
    assert label_selectors.parse(str(label_selectors.NOTHING)) == label_selectors.NOTHING


def test_from_labels():
    """Labels select the objects that carry all of them, and perhaps more."""
    got = label_selectors.from_labels({"b": "2", "a": "1"})

    assert str(got) == "a=1,b=2"
    assert got.matches({"a": "1", "b": "2", "c": "3"})
    assert not got.matches({"a": "1"})


def test_from_typed():
    """The typed form is the sum of its labels and its expressions."""
    typed = LabelSelector(
        match_labels={"c": "1"},
        match_expressions=(
            LabelSelectorRequirement(key="d", operator="Exists"),
            LabelSelectorRequirement(key="b", operator="NotIn", values=("y", "x")),
            LabelSelectorRequirement(key="a", operator="DoesNotExist"),
            LabelSelectorRequirement(key="c", operator="In", values=("1", "2")),
        ),
    )

    assert str(label_selectors.from_typed(typed)) == "!a,b notin (x,y),c=1,c in (1,2),d"


def test_an_absent_typed_selector_selects_nothing():
    """No selector is not the same as an empty one."""
    assert label_selectors.from_typed(None) == label_selectors.NOTHING
    assert label_selectors.from_typed(LabelSelector()) == label_selectors.EVERYTHING


@pytest.mark.parametrize(
    ("operator", "values", "message"),
    [
        (
            "Equals",
            ("v",),
            "operator 'Equals' is not one of In, NotIn, Exists, DoesNotExist",
        ),
        ("In", (), "label k: operator in takes at least one value"),
        ("Exists", ("v",), "label k: a test for presence takes no value"),
        ("In", ("-",), "label k: value '-' is not valid: it must be"),
    ],
)
def test_a_bad_expression_is_named(operator, values, message):
    """The message says which expression is wrong, and why."""
    good = LabelSelectorRequirement(key="k", operator="Exists")
    bad = LabelSelectorRequirement(key="k", operator=operator, values=values)

    with pytest.raises(SelectorError) as caught:
        label_selectors.from_typed(LabelSelector(match_expressions=(good, bad)))

    assert str(caught.value).startswith(f"matchExpressions[1]: {message}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", LabelSelector()),
        ("a=1,b==2", LabelSelector(match_labels={"a": "1", "b": "2"})),
        (
            "a=1,a=2",
            LabelSelector(
                match_labels={"a": "1"},
                match_expressions=(
                    LabelSelectorRequirement(key="a", operator="In", values=("2",)),
                ),
            ),
        ),
        (
            "a!=1,!b",
            LabelSelector(
                match_expressions=(
                    LabelSelectorRequirement(key="a", operator="NotIn", values=("1",)),
                    LabelSelectorRequirement(key="b", operator="DoesNotExist"),
                )
            ),
        ),
    ],
)
def test_to_typed(text, expected):
    """What the typed form has no operator for is said with those it has; nothing is dropped."""
    assert label_selectors.to_typed(label_selectors.parse(text)) == expected


@pytest.mark.parametrize("text", ["a>1", "a<1"])
def test_comparisons_have_no_typed_form(text):
    """An order of numbers cannot be said in a LabelSelector."""
    with pytest.raises(SelectorError, match=f"^{text} has no typed form"):
        label_selectors.to_typed(label_selectors.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" * MEGABYTE, id="one long key"),
        pytest.param("a=" + "b" * MEGABYTE, id="one long value"),
        pytest.param("!" * MEGABYTE, id="negations"),
        pytest.param("=" * MEGABYTE, id="equals signs"),
        pytest.param("(" * MEGABYTE, id="open parentheses"),
        pytest.param("a in (" * (MEGABYTE // 6), id="sets in sets"),
        pytest.param("," * MEGABYTE, id="commas"),
        pytest.param("a in (" + "," * MEGABYTE, id="a set without end", marks=pytest.mark.slow),
        pytest.param(" " * MEGABYTE + "!", id="blanks"),
        pytest.param("a.b/" * (MEGABYTE // 4), id="slashes"),
    ],
)
def test_a_hostile_megabyte_is_refused_briefly(text):
    """However long the text, it is read once, and the message about it stays short."""
    with pytest.raises(SelectorError) as caught:
        label_selectors.parse(text)

    assert len(str(caught.value)) < 500


@pytest.mark.slow
def test_a_megabyte_of_values_is_read():
    """Length alone is no fault."""
    values = [f"v{number}" for number in range(MEGABYTE // 8)]

    got = label_selectors.parse(f"a in ({','.join(values)})")

    assert got == Selector((required("a", Operator.IN, *values),))


@given(st.lists(requirements))
def test_parse_inverts_printing(wanted):
    """What was printed reads back as the same selector."""
    selector = label_selectors.select(wanted)

    assert label_selectors.parse(str(selector)) == selector


@given(spellings())
def test_blanks_mean_nothing(spelling):
    """A selector may be written with blanks around every symbol."""
    wanted, text = spelling

    assert label_selectors.parse(text) == label_selectors.select(wanted)


@given(st.lists(requirements, max_size=4), labels)
def test_matching_is_the_conjunction_of_the_documented_rules(wanted, carried):
    """A selector matches exactly when each requirement does, by the documentation's words."""
    expected = all(naive_match(requirement, carried) for requirement in wanted)

    assert label_selectors.select(wanted).matches(carried) == expected


@given(typed_selectors)
def test_the_typed_form_survives_the_string_form(typed):
    """Typed to string to typed is where it started."""
    text = str(label_selectors.from_typed(typed))

    assert label_selectors.to_typed(label_selectors.parse(text)) == typed


@given(st.lists(requirements, max_size=4), labels)
def test_the_typed_form_means_the_same(wanted, carried):
    """Whatever has a typed form matches the same labels in it."""
    selector = label_selectors.select(wanted)
    try:
        typed = label_selectors.to_typed(selector)
    except SelectorError:
        return
    assert label_selectors.from_typed(typed).matches(carried) == selector.matches(carried)


@given(st.text(alphabet="ab/.-_=!(),<> in\\1", max_size=30))
def test_any_text_is_parsed_or_refused(text):
    """No text leads to another error than the one for bad selectors."""
    try:
        selector = label_selectors.parse(text)
    except SelectorError:
        return
    assert label_selectors.parse(str(selector)) == selector
