"""What holds for every expression and every document."""

from hypothesis import given, settings, strategies as st

from kubekit.cel import (
    KUBERNETES,
    REQUEST_LIMIT,
    Budget,
    CelError,
    CompileError,
    CostExceeded,
    EvaluationError,
    compile_expression,
    rules_of,
)
from kubekit.cel.costs.estimates import estimate
from kubekit.cel.operations.comparison import equals, same
from kubekit.cel.schema_types import declared, escaped
from kubekit.cel.syntax.parser import parse
from kubekit.cel.syntax.text import quoted, quoted_bytes, string_value
from kubekit.cel.types import DYN
from tests.support.generated import depth
from tests.support.generated.cel_strategies import documents, expressions, nonsense
from tests.support.kubekit.unparsing import unparsed

ANY = KUBERNETES.extended({"object": DYN}, {})


def spent(expression, document, limit=REQUEST_LIMIT):
    """What evaluating cost, whatever came of it."""
    budget = Budget(per_call=limit)
    try:
        compile_expression(expression, ANY).evaluate({"object": document}, budget)
    except CelError as error:
        return REQUEST_LIMIT - budget.remaining, str(error)
    return REQUEST_LIMIT - budget.remaining, ""


@settings(max_examples=depth.examples(400))
@given(expressions, documents)
def test_evaluation_ends_in_a_value_or_in_an_error_of_ours(expression, document):
    """No expression makes anything else happen, whatever it is asked of."""
    try:
        program = compile_expression(expression, ANY)
        estimate(program.tree, None)
        program.evaluate({"object": document}, Budget())
    except (CompileError, EvaluationError, CostExceeded):
        pass


@settings(max_examples=depth.examples(400))
@given(nonsense)
def test_a_text_is_an_expression_or_a_compile_error(text):
    """Every text is compiled or refused."""
    words = "none"
    try:
        compile_expression(text, ANY)
    except CompileError as error:
        words = str(error)
    assert words


@settings(max_examples=depth.examples(300))
@given(expressions)
def test_a_tree_survives_being_written(expression):
    """What a tree is written as parses to the same tree."""
    try:
        tree = parse(expression)
    except CompileError:
        return
    written = unparsed(tree)
    assert parse(written) == tree
    assert unparsed(parse(written)) == written


@settings(max_examples=depth.examples(200))
@given(expressions, documents)
def test_evaluating_twice_gives_the_same(expression, document):
    """A program holds nothing of its evaluations, and a document is not changed by them."""
    before = repr(document)
    assert spent(expression, document) == spent(expression, document)
    assert repr(document) == before


@settings(max_examples=depth.examples(200))
@given(expressions, documents, st.integers(0, 50))
def test_a_limit_lets_pass_what_costs_no_more(expression, document, limit):
    """An evaluation is stopped if and only if it would cost more than its limit."""
    cost, words = spent(expression, document)
    limited, limited_words = spent(expression, document, limit)
    if cost <= limit:
        assert (limited, limited_words) == (cost, words)
    else:
        assert "cost limit exceeded" in limited_words
        assert limit < limited <= cost


@settings(max_examples=depth.examples(100))
@given(st.lists(st.integers(-3, 3), max_size=20), st.integers(0, 5))
def test_more_elements_cost_more(numbers, more):
    """The cost of a loop grows with what it loops over."""
    expression = "object.map(x, x + 1).size() >= 0"
    assert spent(expression, numbers)[0] <= spent(expression, numbers + [0] * more)[0]


SCHEMA = {
    "type": "object",
    "properties": {
        "l": {"type": "array", "maxItems": 6, "items": {"type": "integer"}},
        "s": {"type": "string", "maxLength": 8},
        "m": {
            "type": "object",
            "maxProperties": 4,
            "additionalProperties": {"type": "string", "maxLength": 5},
        },
    },
}
BOUNDED = [
    "self.l.all(x, x > 0)",
    "self.l.exists(x, self.l.all(y, x >= y))",
    "self.l.map(x, x * 2).filter(y, y > 2).size() > 0",
    "self.s.contains('ab') || self.s + self.s == 'abab'",
    "self.s.matches('a+b*') && self.s in self.m",
    "self.m.all(k, self.m[k].startsWith(k))",
    "self.m.transformMap(k, v, v + k).size() > 1",
    "self.s.split('').map(c, c + self.s).join('-') != ''",
    "self.l.sort() == self.l.distinct() || sets.contains(self.l, [1])",
    "self.s.replace('a', self.s).size() > 3",
]


@settings(max_examples=depth.examples(200))
@given(
    st.sampled_from(BOUNDED),
    st.fixed_dictionaries(
        {
            "l": st.lists(st.integers(-3, 3), max_size=6),
            "s": st.text("ab\u00e9", max_size=8),
            "m": st.dictionaries(
                st.text("ab", min_size=1, max_size=2), st.text(max_size=5), max_size=4
            ),
        }
    ),
)
def test_no_evaluation_costs_more_than_its_estimate(expression, document):
    """What a definition promises at most is what a document may cost."""
    kind = declared(SCHEMA)
    assert kind is not None
    environment = KUBERNETES.extended({"self": kind.type}, kind.structs())
    program = compile_expression(expression, environment)
    budget = Budget()
    program.evaluate({"self": kind.wrap(document)}, budget)
    assert REQUEST_LIMIT - budget.remaining <= estimate(program.tree, kind).high


@given(st.text(max_size=30))
def test_a_text_survives_being_quoted(text):
    """A literal for a text stands for that text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert string_value(quoted(text)) == text


@given(st.binary(max_size=30))
def test_bytes_survive_being_quoted(content):
    """A literal for bytes stands for those bytes."""
    program = compile_expression(quoted_bytes(content), KUBERNETES)
    assert program.evaluate({}, Budget()) == content


@given(st.lists(st.text("ab_-./1$\u00e9in", min_size=1, max_size=6), unique=True, max_size=5))
def test_escaped_names_are_identifiers_and_differ(names):
    """Each property that can be named has a name of its own."""
    spelled = [name for name in map(escaped, names) if name is not None]
    assert len(set(spelled)) == len(spelled)
    assert all(name.isidentifier() and name.isascii() for name in spelled)


@given(documents, documents)
def test_equality_is_symmetric_and_that_of_documents_is_stricter(first, second):
    """Documents that are the same are equal, and equality does not depend on the order."""
    assert equals(first, second) == equals(second, first)
    assert equals(first, first)
    if same(first, second):
        assert equals(first, second)


@given(st.dictionaries(st.text("ab", max_size=2), st.integers(0, 3), max_size=3))
def test_an_unchanged_document_breaks_no_rule(numbers):
    """Whatever a rule says, a document that is as it was is let through."""
    rules = rules_of(
        {
            "type": "object",
            "properties": {"a": {"type": "object", "additionalProperties": {"type": "integer"}}},
            "x-kubernetes-validations": [{"rule": "1 > 2"}],
        }
    )
    assert rules is not None
    assert rules.errors({"a": numbers}, {"a": dict(numbers)}) == []
    assert len(rules.errors({"a": {**numbers, "new": 1}}, {"a": numbers})) == 1
