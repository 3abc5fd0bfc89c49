"""The key 'search' of a method: what it may say, and when it is part of a trial's key."""

import pytest

from mfbench.errors import SuiteError

HEAD = '[suite]\nname = "own"\n[protocol]\nkind = "{kind}"\n'
LISTS = "{ power = [1.0, 2.0, 3.0], shift = [0.0, 0.5] }"
DRAWN = "{ power = { first = 1.0, last = 9.0 } }"


def weigh(search, tune=LISTS, more=""):
    tune = f"tune = {tune}\n" if tune else ""
    return f'[[methods]]\nlabel = "A"\nselector = "weigh"\nclassifier = "nearest"\n{tune}search = {search}\n{more}'


def refusal(planned, *method, kind="repeated-cv"):
    with pytest.raises(SuiteError) as caught:
        planned(head=HEAD.format(kind=kind), methods=weigh(*method))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_wrong_value_is_told_with_its_place(planned):
    forms = "expected { kind = 'random', n = 30 } or { kind = 'halving', factor = 3 }"
    for search, message in {
        "{ kind = 'random', n = 0 }": "methods[0].search.n: found 0",
        "{ kind = 'random', n = 10_001 }": "methods[0].search.n: found 10001",
        "{ kind = 'random', n = 2.5 }": "methods[0].search.n: found 2.5 (a number), expected a whole number",
        "{ kind = 'halving', factor = 1 }": "methods[0].search.factor: found 1",
        "{ kind = 'bayes' }": "methods[0].search.kind: found 'bayes' (a string), expected 'random' or 'halving'",
        "{ n = 3 }": "methods[0].search.kind: missing",
        "{ kind = 'random', m = 3 }": "methods[0].search.m: unknown key",
        "{ kind = 'random' }": forms,
        "{ kind = 'halving', n = 5 }": forms,
        "{ kind = 'random', n = 5, factor = 2 }": forms,
        "'random'": "methods[0].search: found 'random' (a string), expected a table",
    }.items():
        assert message in refusal(planned, search), search


def test_a_search_needs_values_and_a_training_part_of_its_own(planned):
    random, halving = "{ kind = 'random', n = 3 }", "{ kind = 'halving' }"
    for method, message in [
        ((random, None), "methods[0].search: 'search' is for tuned methods; add tune = … or leave it out"),
        ((halving, DRAWN), "methods[0].tune.power: a range without 'count' is for a random search"),
        ((random, '{ "power,shift" = { first = 1, last = 2 } }'), "tuned together must belong to one step"),
        ((random, '{ "power,selector.k" = { first = 1, last = 2 } }'), "found 1, expected a list of 2 values"),
        ((random, "{ top = { first = 0, last = 9 } }"), "methods[0].tune.top: found 0"),
        ((random, "{ power = { first = 2, last = 2 } }"), "expected a list or ends that differ"),
        ((random, LISTS, 'selection = "per-dataset"'), "methods[0].search: a method with a curve or selection"),
        ((random, LISTS, "curve = [1, 2]"), "methods[0].search: a method with a curve or selection"),
    ]:
        assert message in refusal(planned, *method), method
    with pytest.raises(SuiteError, match=r"methods\[0\].tune.power: a range without 'count'"):
        planned(methods=weigh(random, DRAWN).replace(f"search = {random}", ""))


def test_a_protocol_that_tunes_nothing_has_no_search(planned):
    assert "methods[0].tune: the protocol 'timing'" in refusal(planned, "{ kind = 'halving' }", kind="timing")
    text = '[[methods]]\nlabel = "A"\nselector = "weigh"\nsearch = { kind = "halving" }'
    with pytest.raises(SuiteError, match=r"methods\[0\].search: the protocol 'ground-truth' does not tune"):
        planned(head=HEAD.format(kind="ground-truth"), methods=text)


def test_a_search_that_tries_every_point_is_the_grid(planned):
    plain = planned(methods=weigh("{ kind = 'halving' }").replace("search = { kind = 'halving' }", ""))
    for n, search in [(5, "random"), (6, None), (10_000, None)]:
        plan = planned(methods=weigh(f"{{ kind = 'random', n = {n} }}"))
        found = plan.methods["A"].search
        assert (found and found.kind) == search
        assert (plan.trials == plain.trials) == (search is None)


def test_searches_that_differ_have_trials_of_their_own(planned):
    searches = [f"{{ kind = 'random', n = {n} }}" for n in (2, 3)] + ["{ kind = 'halving' }"]
    keys = {planned(methods=weigh(search)).trials[0].key for search in searches}
    drawn = {
        planned(methods=weigh(searches[1], f"{{ power = {{ first = 1.0, last = {last} }} }}")).trials[0].key
        for last in (8.0, 9.0)
    }
    assert len(keys | drawn) == 5


def test_a_thousand_values_of_each_parameter_can_be_drawn_from(planned):
    many = "{ first = 0.0, last = 1.0, count = 2000 }"
    tune = f"{{ power = {many}, shift = {many} }}"
    assert planned(methods=weigh("{ kind = 'random', n = 5 }", tune)).methods["A"].search.n == 5
    assert "4,000,000 combinations" in refusal(planned, "{ kind = 'halving' }", tune)
