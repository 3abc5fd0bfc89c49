"""Expressions: names and literals in, nothing executed."""

import ast
import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbench.errors import UsageError
from mfbench.host.expressions import Expression, canonical_text, parse

LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+){0,2}(@[a-z0-9]+([._-][a-z0-9]+)?)?", fullmatch=True)
KEYS = st.from_regex(r"[a-z_][a-z0-9_]*", fullmatch=True).filter(
    lambda key: not __import__("keyword").iskeyword(key) and key != "__debug__"
)
# Pieces that make text which nearly is an expression, or nearly is a program.
PIECES = st.sampled_from(
    ["knn", "a", "=", "(", ")", ",", "1", "-", "'x'", "[", "]", "{", "}", ":", "*", "**", " ", "\n", "\t", ";", ".",
     "__import__('os')", "lambda", "print", "x", "true", "null", "None", "f'{x}'", "\\", "#", "if", "else", "@", "\x00",
     "é", "1e999", "...", ":=", "await", "b'y'", "\ud800"]
)  # fmt: skip


def is_literal(value):
    if isinstance(value, dict):
        return all(is_literal(part) for pair in value.items() for part in pair)
    if isinstance(value, list | tuple | set):
        return all(is_literal(part) for part in value)
    return value is None or value is ... or isinstance(value, bool | int | float | complex | str | bytes)


@given(NAMES, st.dictionaries(KEYS, LITERALS, max_size=4))
def test_what_an_expression_prints_it_reads(name, params):
    expression = Expression(name, params)
    assert parse(str(expression)) == expression


@given(st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=12).map("".join)))
def test_any_text_gives_literals_or_one_error(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            found = parse(text)
        except UsageError as error:
            assert repr(text) in str(error)
            return
    assert all(part.isalnum() for part in re.split("[-_]", found.bare_name))
    assert is_literal(found.params)


@given(st.lists(PIECES, max_size=8).map("".join))
def test_any_argument_gives_literals_or_one_error(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = parse(f"knn(a={text})")
        except UsageError:
            return
    assert found.name == "knn"
    assert is_literal(found.params)


@pytest.mark.parametrize(
    "text",
    [
        "knn(a=__import__('os').system('touch {path}'))",
        "knn(a=[open('{path}', 'w') for _ in '1'])",
        "knn(**open('{path}', 'w'))",
        "knn(a=(lambda: open('{path}', 'w'))())",
        'knn(a=f\'{{open("{path}", "w")}}\')',
        "knn(a=1)(b=open('{path}', 'w'))",
        "knn(a=(x := open('{path}', 'w')))",
    ],
)
def test_code_is_refused_and_not_run(text, tmp_path, monkeypatch):
    monkeypatch.setattr("builtins.eval", lambda *_: pytest.fail("eval was called"))
    monkeypatch.setattr("builtins.exec", lambda *_: pytest.fail("exec was called"))
    with pytest.raises(UsageError):
        parse(text.format(path=tmp_path / "trace"))
    assert not list(tmp_path.iterdir())


def test_forms_that_are_understood(subtests):
    for text, expected in [
        ("knn", {}),
        ("  knn ( )  ", {}),
        ("knn(a=1)", {"a": 1}),
        ("knn(a=-1.5, b='x', )", {"a": -1.5, "b": "x"}),
        ("knn(a=true, b=false, c=null)", {"a": True, "b": False, "c": None}),
        ("knn(a=True, b=None)", {"a": True, "b": None}),
        ("knn(a=(1, 2), b=[1, [2]])", {"a": (1, 2), "b": [1, [2]]}),
        ("knn(a={'x': 1})", {"a": {"x": 1}}),
        ("knn(a=')', b='(')", {"a": ")", "b": "("}),
    ]:
        with subtests.test(text=text, expected=expected):
            assert parse(text) == Expression("knn", expected)


def test_other_forms_are_refused_with_the_reason(subtests):
    for text, part in [
        ("", "expected a name"),
        ("   ", "expected a name"),
        ("(a=1)", "expected a name"),
        ("knn(", "expected a name"),
        ("knn(a=1", "expected a name"),
        ("knn(a=1) ; x", "expected a name"),
        ("k nn", "expected a name"),
        ("os.system", "expected a name"),
        ("knn-", "expected a name"),
        ("knn-_x", "expected a name"),
        ("knn@", "expected a name"),
        ("@mfbench", "expected a name"),
        ("knn@a b", "expected a name"),
        ("knn@a@b", "expected a name"),
        ("knn @a", "expected a name"),
        ("knn(3)", "name=value"),
        ("knn(*a)", "name=value"),
        ("knn(a=1)+g(b=2)", "name=value"),
        ("knn(a=1).x(b=2)", "name=value"),
        ("knn(**{'a': 1})", "write each parameter once"),
        ("knn(a=1, a=2)", "write each parameter once"),
        ("knn(a=)", "cannot read"),
        ("knn(a=1;b=2)", "cannot read"),
        ("knn(a=yes)", "the value of 'a' must be a literal"),
        ("knn(a=1 + 1)", "found 1 + 1"),
        ("knn(a=[true])", "found [true]"),
        ("knn(b=os.sep)", "found os.sep"),
        ("knn(a={[]: 1})", "the value of 'a' must be a literal"),
    ]:
        with subtests.test(text=text, part=part):
            with pytest.raises(UsageError) as caught:
                parse(text)
            assert repr(text) in str(caught.value)
            assert part in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("-" * 3000 + "1", id="deep"),
        pytest.param("-" * 100_000 + "1", id="deeper"),
        pytest.param("(" * 500 + ")" * 500, id="brackets"),
        pytest.param("1" * 5000, id="digits"),
    ],
)
def test_monstrous_arguments_are_refused(value):
    with pytest.raises(UsageError):
        parse(f"knn(a={value})")


def test_literal_eval_is_the_only_evaluation(monkeypatch):
    seen = []
    original = ast.literal_eval
    monkeypatch.setattr(ast, "literal_eval", lambda node: seen.append(node) or original(node))
    parse("knn(a=1, b='x')")
    assert len(seen) == 2


class TestPackages:
    def test_a_name_may_have_its_package(self):
        one = parse("relieff@my_package.plugin(n_neighbors=5)")
        assert (one.name, one.bare_name, one.params) == (
            "relieff@my_package.plugin",
            "relieff",
            {"n_neighbors": 5},
        )
        assert str(one) == "relieff@my_package.plugin(n_neighbors=5)"

    def test_keys_and_seeds_do_not_depend_on_how_the_name_must_be_written(self):
        assert parse("svm@a(C=1)").canonical() == parse("svm(C=1)").canonical()
        assert parse("svm@a(C=1)").identity != parse("svm@b(C=1)").identity


class TestCanonical:
    def test_the_order_of_parameters_does_not_matter(self):
        assert parse("svm(gamma=1, C=2)").canonical() == parse("svm(C=2, gamma=1)").canonical()

    def test_different_expressions_differ(self, subtests):
        for one, other in [
            ("svm(C=1)", "svm(C=2)"),
            ("svm(C=1)", "svm(c=1)"),
            ("svm(C=1)", "knn(C=1)"),
            ("svm(C=1)", "svm(C=1.0)"),
            ("svm(C=1)", "svm(C=true)"),
            ("svm(C=1)", "svm(C='1')"),
            ("svm(C=null)", "svm(C='null')"),
            ("svm", "svm(C=1)"),
        ]:
            with subtests.test(one=one, other=other):
                assert parse(one).canonical() != parse(other).canonical()

    @given(st.dictionaries(KEYS, LITERALS, max_size=3), st.dictionaries(KEYS, LITERALS, max_size=3))
    def test_equal_texts_only_for_equal_parameters(self, one, other):
        plain = lambda value: (  # noqa: E731 - a tuple and a list are one value here
            [plain(part) for part in value]
            if isinstance(value, list | tuple)
            else {key: plain(part) for key, part in value.items()}
            if isinstance(value, dict)
            else (type(value), value)
        )
        if Expression("a", one).canonical() == Expression("a", other).canonical():
            assert plain(one) == plain(other)

    def test_a_mapping_by_number_is_not_one_by_text(self):
        assert parse("svm(w={1: 2})").canonical() != parse("svm(w={'1': 2})").canonical()

    @pytest.mark.parametrize("text", ["svm(w={(1, 2): 3})", "svm(w={1: 2, 'a': 3})"])
    def test_every_literal_mapping_has_a_canonical_text(self, text):
        assert parse(text).canonical() == parse(text).canonical()


class TestNested:
    """Where import paths are allowed, a value may be an expression as well."""

    def test_forms_that_are_understood(self, subtests):
        for text, parts in [
            ("a:B(c=d.e:F)", ["d.e:F"]),
            ("a:B(c=d:E(f=null, g='h:i'))", ["d:E(f=None, g='h:i')"]),
            ("a:B(c=[('x', d:E()), ('y', f:G(h=i:J))])", ["d:E", "f:G(h=i:J)", "i:J"]),
            ("a:B(c={'x':d:E, 'y':True}, f={True:False}, g='h:i')", ["d:E"]),
            ("knn(c=(d:E,))", ["d:E"]),
        ]:
            with subtests.test(text=text):
                found = parse(text, references=True)
                assert [str(part) for part in found.parts()] == parts
                assert parse(str(found), references=True) == found

    def test_other_forms_are_refused(self, subtests):
        for text, part in [
            ("a:B(c=d:E(3))", "name=value"),
            ("a:B(d:E())", "name=value"),
            ("a:B(c=d:E(**f:G))", "write each parameter once"),
            ("a:B(c=d:E().f)", "found d:E().f"),
            ("a:B(c=d:E + 1)", "found d:E + 1"),
            ("a:B(c={d:E: 1})", "must be a literal"),
            ("a:B(c=[d:E for x in 'a'])", "must be a literal"),
            ("a:B(c=lambda d:E)", "cannot read"),
            ("a:B(c=[1e999])", "found [1e999]"),
            ("a:B(c=d:E(f=-1e999j))", "found -1e999j"),
            ("a:B(c=...)", "found ..."),
        ]:
            with subtests.test(text=text), pytest.raises(UsageError, match=re.escape(part)):
                parse(text, references=True)

    def test_where_import_paths_are_not_allowed_no_value_is_one(self):
        with pytest.raises(UsageError):
            parse("knn(c=d:E)")

    def test_they_take_part_in_keys(self):
        one, other = (parse(f"a:B(c=d:E(f={value}))", references=True).canonical() for value in (1, 2))
        assert one != other
        assert parse("a:B(c=d:E)", references=True).canonical() != parse("a:B(c='d:E')", references=True).canonical()

    @given(st.lists(PIECES | st.sampled_from(["d:E", "d:E(", "f:G"]), max_size=8).map("".join))
    def test_any_argument_gives_literals_and_expressions_or_one_error(self, text):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = parse(f"a:B(a={text})", references=True)
            except UsageError:
                return
        assert parse(str(found), references=True) == found


def test_the_text_of_an_object_has_no_address():
    """Otherwise every start of a suite would have keys of its own for a spec with such a default."""

    class Options:
        def __init__(self, depth):
            self.depth = depth

    assert canonical_text({"o": Options(1)}) == canonical_text({"o": Options(1)}) != canonical_text({"o": Options(2)})
    assert canonical_text([len, 1]) == "[<built-in function len>, 1]"
