"""Tests that a change weakens are named; honest changes of tests are not."""

import textwrap

import pytest

from greenloop.project.weakening import find_removed_names, find_weakened_tests
from greenloop.project.weakening.doctests import are_examples_run, read_examples
from tests.support.programs import read_program, read_table

BEFORE = read_program(__file__, "BEFORE")


def find_kinds(
    after: str, before: str = BEFORE, removed: frozenset[str] = frozenset()
) -> list[str]:
    old = {"tests/test_cart.py": textwrap.dedent(before)}
    new = {"tests/test_cart.py": textwrap.dedent(after)}
    found = find_weakened_tests(old, new, removed)
    return [item.kind for item in found if item.kind not in ("rewritten", "exchanged")]


SABOTAGE = read_table(__file__, "SABOTAGE")


@pytest.mark.parametrize("name", SABOTAGE)
def test_a_weakened_test_is_named(name: str) -> None:
    old, new, kind = SABOTAGE[name]
    assert old in BEFORE
    assert find_kinds(BEFORE.replace(old, new)) == [kind]


HONEST = read_table(__file__, "HONEST")


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_change_of_tests_is_not_named(name: str) -> None:
    old, new = HONEST[name]
    assert old in BEFORE
    assert find_kinds(BEFORE.replace(old, new)) == []


WEAKER, ALIKE = (read_table(__file__, name) for name in ("WEAKER", "ALIKE"))


def compare_bodies(*bodies: str) -> list[str]:
    before, after = ("def test_a():\n" + textwrap.indent(body, "    ") for body in bodies)
    return find_kinds(after, before)


@pytest.mark.parametrize("name", WEAKER)
def test_a_weaker_check_is_named(name: str) -> None:
    *bodies, kind = WEAKER[name]
    assert kind in compare_bodies(*bodies)


@pytest.mark.parametrize("name", ALIKE)
def test_the_same_check_in_other_words_is_not_named(name: str) -> None:
    assert compare_bodies(*ALIKE[name]) == []


def test_a_check_that_its_helper_no_longer_makes_is_named() -> None:
    before = "def check(x):\n    assert f(x) == 1\n\ndef test_a():\n    check(1)\n"
    assert find_kinds(before.replace("assert", "return"), before) == ["emptied"]


@pytest.mark.parametrize(("before", "after", "kinds"), read_table(__file__, "HANDLERS"))
def test_a_helper_that_hides_an_error_is_named(before: str, after: str, kinds: list[str]) -> None:
    helper = "def load(x):\n    try: read(x)\n    {}\n\ndef test_a():\n    load(1)\n"
    assert find_kinds(helper.format(after), helper.format(before)) == kinds


def test_a_file_that_defines_what_it_tests_is_named() -> None:
    text = "from cart import total\n\ndef test_a():\n    assert total([1]) == 1\n"
    old, new = {"test_a.py": text}, {"test_a.py": text + "\ndef total(xs):\n    return sum(xs)\n"}
    found = find_weakened_tests(old, new, changed_names={"total"}, code_names={"total"})
    assert [item.kind for item in found] == ["mocked"]
    assert not find_weakened_tests(old, new, changed_names={"add"}, code_names={"total"})


def test_checks_may_move_to_helpers_of_a_base_class() -> None:
    before, after = (read_program(__file__, name) for name in ("IN_ONE_TEST", "IN_HELPERS"))
    assert find_kinds(after, before) == []
    assert find_kinds(after.replace("x: 3", "x"), before) == ["fewer checks"]
    assert find_kinds(after.replace('("x", 3)', '("x", 4)'), before) == ["expectation"]


def test_a_test_that_leaves_the_project_is_named() -> None:
    old, new = (
        "def test_a():\n    assert total([1]) == 1\n",
        "def test_a():\n    assert sum([1]) == 1\n",
    )
    found = find_weakened_tests({"test_a.py": old}, {"test_a.py": new}, code_names={"total", "add"})
    assert found[-1].kind == "detached"
    new = new.replace("sum", "self.add")
    found = find_weakened_tests({"test_a.py": old}, {"test_a.py": new}, code_names={"total", "add"})
    assert "detached" not in [item.kind for item in found]


def test_code_that_a_test_newly_replaces_is_named() -> None:
    old = "def test_a():\n    assert total([1]) == 1\n"
    new = old.replace("    assert", "    with patch('cart.add'):\n        assert")
    for names, kinds in (({"total", "add"}, ["isolated"]), ({"total"}, [])):
        found = find_weakened_tests({"test_a.py": old}, {"test_a.py": new}, code_names=names)
        assert [item.kind for item in found] == kinds


PARTS = {
    "re.search(want, got) is not None": "re.search(want.split()[0], got) is not None",
    "want in got": "want[:3] in got",
    "got.strip() == want.strip()": "' '.join(got.split()) == ' '.join(want.split())",
}


@pytest.mark.parametrize("check", PARTS)
def test_a_check_of_a_part_of_what_was_expected_is_named(check: str) -> None:
    head = "def test_message(got, want):\n    assert "
    assert find_kinds(head + PARTS[check], head + check) == ["looser"]
    whole = check.replace("got", "got.text")  # what is looked at stands elsewhere
    assert "looser" not in find_kinds(head + whole, head + check)


def test_an_error_may_be_waited_for_in_another_way() -> None:
    head = BEFORE + "\ndef test_debt():\n"
    handler = "    except ValueError as e:\n        assert str(e) == 'debt'\n"
    before = f"{head}    try:\n        total([-2])\n{handler}    else:\n        assert False\n"
    after = f"{head}    with pytest.raises(ValueError, match='debt'):\n        total([-2])\n"
    assert find_kinds(after, before) == []
    assert find_kinds(after.replace(", match='debt'", ""), before) == ["fewer checks"]
    assert find_kinds(f"{head}    total([2])\n", before) == ["emptied", "emptied"]


def test_a_test_that_is_removed_with_what_it_tested_is_not_named() -> None:
    code = "def total(xs): ...\ndef tax(x): ...\n"
    removed = find_removed_names({"cart.py": code}, {"cart.py": "def total(xs): ...\n"})
    before = BEFORE + "\ndef test_tax():\n    assert tax(1) == 2\n"
    assert find_kinds(BEFORE, before, removed) == []
    assert find_kinds(BEFORE, before) == ["removed"]
    fixture = "\n@pytest.fixture\ndef rate():\n    return tax(1)\n"
    before = BEFORE + fixture + "\ndef test_rate(rate):\n    assert rate == 2\n"
    assert find_kinds(BEFORE, before, removed) == []
    assert find_kinds(BEFORE + fixture, before, removed) == ["removed"]  # it is still there
    local, gone = (f"class A:\n    rate = 1\n    def f(self):\n        {i}" for i in ("x = 1", ""))
    assert find_removed_names({"a.py": local}, {"a.py": f"{gone}pass"}) == frozenset()
    assert find_removed_names({"a.py": local}, {"a.py": ""}) == {"A", "f", "rate", "self="}


def test_a_test_of_a_text_that_the_code_no_longer_knows_is_not_named() -> None:
    code = "def send(kind):\n    return kind == 'file.path'\n"
    removed = find_removed_names({"a.py": code}, {"a.py": "def send(kind):\n    return False\n"})
    before = BEFORE + "\ndef test_path():\n    assert send('file.path')\n"
    assert find_kinds(BEFORE, before, removed) == []
    assert find_kinds(BEFORE, before, find_removed_names({"a.py": code}, {"a.py": code})) != []


@pytest.mark.parametrize(("check", "old", "new"), read_table(__file__, "REMOVED"))
def test_a_check_of_a_name_that_is_removed_is_not_named(check: str, old: str, new: str) -> None:
    before = BEFORE + f"\ndef test_tax():\n    assert {check}\n    assert tax(1) == 3\n"
    after = before.replace(f"    assert {check}\n", "")
    removed = find_removed_names({"cart.py": old}, {"cart.py": new})
    assert find_kinds(after, before, removed) == []
    assert find_kinds(after, before) == ["fewer checks"]


def test_a_moved_test_is_compared_where_it_stands_now() -> None:
    old = {"test_a.py": "def test_x():\n    assert f(1) == 2\n"}
    new = {"test_b.py": "def test_x():\n    assert f(1)\n"}
    found = find_weakened_tests(old, new)
    assert [item.says for item in found] == [
        "test_b.py:2: test_x asserts less than before: `f(1) == 2` is now `f(1)`"
    ]


def test_a_value_that_another_check_has_by_chance_is_named() -> None:
    before = "def test_a():\n    assert f(1) == 2\n    assert f(2, 1) == 3\n"
    assert find_kinds(before.replace("f(1) == 2", "f(1) == 9"), before) == ["expectation"]


@pytest.mark.parametrize("checks", ["f(1) == 2|f(1) != 2", "2 not in f(1)|2 in f(1)"])
def test_the_opposite_is_another_expectation_and_no_weaker_one(checks: str) -> None:
    before, after = (f"def test_a():\n    assert {text}\n" for text in checks.split("|"))
    assert find_kinds(after, before) == ["expectation"]


def test_one_of_equal_checks_that_is_removed_is_named() -> None:
    """What stands between them differs: the other one does not ask the same."""
    before = (
        "def test_a():\n    push()\n    assert size() == 1\n    pop()\n    assert size() == 1\n"
    )
    assert find_kinds(before.removesuffix("    assert size() == 1\n"), before) == ["fewer checks"]


def test_a_loosened_helper_is_named() -> None:
    before = "def check(x):\n    assert x == 1\n\ndef test_a():\n    check(f())\n"
    assert find_kinds(before.replace("x == 1", "x"), before) == ["looser"]
    before = "def test_a():\n    def check(x):\n        assert x == 1\n\n    check(f())\n"
    assert find_kinds(before.replace("x == 1", "x"), before) == ["looser"]

    other = {"tests/test_a.py": "def test_a():\n    check(f())\n"}
    for text in ("assert y in x", "print(x)"):
        lines = ("assert x == 1", text)
        old, new = ({"tests/common.py": f"def check(x):\n    {i}\n"} for i in lines)
        found = [find_weakened_tests(old, new, around=around) for around in (other, {})]
        assert [[item.kind for item in items] for items in found] == [["fewer checks"], []]

    before = "def test_a(hits, size):\n    assert read() == Info(hits, size)\n"
    parts = before.replace("read() == Info(hits, size)", "read().size == size")
    assert find_kinds(parts, before) == ["looser"]
    assert find_kinds(parts + "    assert read().hits == hits\n", before) == []


def test_values_of_a_fixture_are_cases() -> None:
    head = (
        "@pytest.fixture(params=[(1, 1), (2, 4)])\ndef pair(request):\n    return request.param\n\n"
    )
    before = (
        head + "def test_a(pair):\n    number, want = pair\n    assert square(number) == want\n"
    )
    assert find_kinds(before.replace("(1, 1), ", ""), before) == ["fewer checks"]
    alone = before.replace(", (2, 4)", "") + "\ndef test_two():\n    assert square(2) == 4\n"
    assert find_kinds(before, alone) == []
    made = before.replace("return request.param", "return read(request.param)")
    assert find_kinds(made.replace("(1, 1), ", ""), made) == ["fewer checks"]


def test_names_of_parameters_are_no_values() -> None:
    before = "@mark.parametrize('a, b', [(1, 2)])\ndef test_a(a, b):\n    total(a, b)\n"
    after = "@mark.parametrize('a, b, c', [(1, 2, 3)])\ndef test_b(a, b, c):\n    assert total(a, b) == c"
    assert find_kinds(after, before) == []


def test_a_test_of_the_same_code_in_another_way_replaces_one() -> None:
    old = {"test_a.py": "def test_x():\n    pool = Pool()\n    assert pool.done(total(1))\n"}
    new = {"test_a.py": "def test_y():\n    assert [total(1), total(2)] == [1, 2]\n"}
    assert [i.kind for i in find_weakened_tests(old, new)] == ["removed"]
    found = find_weakened_tests(old, new, code_names={"total"})
    assert [item.kind for item in found] == ["rewritten"]


def test_a_test_that_is_removed_with_its_module_is_not_named() -> None:
    test = "\ndef test_old():\n    __import__('shop.old')\n    assert warned()\n"
    removed = find_removed_names({"src/shop/old.py": ""}, {"src/shop/new.py": ""})
    assert find_kinds(BEFORE, BEFORE + test, removed) == []
    assert find_kinds(BEFORE, BEFORE + test) == ["removed"]
    removed = find_removed_names({"old_shop.py": ""}, {})
    old = {"tests/old_shop_test.py": "def test_a():\n    assert f(1) == 1\n"}
    assert find_weakened_tests(old, {}, removed) == []


def test_both_sides_of_a_finding_show_what_differs() -> None:
    test = "def test_a():\n    with pytest.raises(ValueError):\n        add({})\n"
    old, new = ({"test_a.py": test.format(i)} for i in (0, -1))
    found = next(i for i in find_weakened_tests(old, new) if i.kind == "exchanged")
    assert "add(0)` is now `" in found.says
    assert found.says.endswith("add(-1)`")


def test_a_test_may_be_split_and_say_more_beside_what_it_expects() -> None:
    before = """
        def test_both():
            class First: ...
            class Second: ...
            assert build(First, 1) == First(1)
            other = build(Second, 1)
            assert other == Second(1)

        def test_old():
            with pytest.warns(DeprecationWarning, match="old"):
                old()
        """
    after = """
        def test_both():
            class First: ...
            assert build(First, 1) == First(1)

        def test_second():
            class Second: ...
            assert build(Second, 1) == Second(1)

        def test_deprecated():
            with pytest.warns(DeprecationWarning, match="old"):
                value = old()
            assert value == 1
        """
    assert find_kinds(after, before) == []
    assert find_kinds(after.replace("build(Second, 1)", "2"), before) != []


def test_a_second_copy_of_a_test_may_go() -> None:
    text = "def test_x():\n    assert f(1) == 2\n"
    other = {"test_b.py": text}
    assert not find_weakened_tests({"test_a.py": text}, {"test_a.py": ""}, around=other)
    other = {"test_b.py": text.replace("2", "3")}
    assert find_weakened_tests({"test_a.py": text}, {"test_a.py": ""}, around=other)


def test_a_test_that_checks_in_a_handler_is_missed_under_another_name() -> None:
    before = BEFORE + """
def test_error():
    try:
        parse("x")
    except ValueError as error:
        assert str(error) == "no x"
"""
    assert find_kinds(before.replace("def test_error", "def check_error"), before) == ["removed"]
    assert find_kinds(before.replace("def test_error", "def test_message"), before) == []


def test_a_test_that_replaces_a_changed_function_only_now_is_named() -> None:
    old = {"test_a.py": "def test_x():\n    assert f(1) == 2\n"}
    new = {"test_a.py": "def test_x():\n    with patch('a._g'):\n        assert f(1) == 2\n"}
    assert find_weakened_tests(old, new, changed_names={"_g"}, code_names={"f", "_g"})
    assert not find_weakened_tests(old, new, changed_names={"_g"}, code_names={"f"})
    assert not find_weakened_tests(
        new, {**new, "b.py": ""}, changed_names={"_g"}, code_names={"_g"}
    )


def test_a_test_that_takes_the_place_of_an_inherited_one_is_compared_with_it() -> None:
    base = {"tests/base.py": "class Base:\n    def test_x(self):\n        assert f(1) == 2\n"}
    old = {"tests/test_a.py": "class TestA(Base):\n    pass\n"}
    new = {"tests/test_a.py": "class TestA(Base):\n    def test_x(self):\n        assert f(1)\n"}
    assert [item.kind for item in find_weakened_tests(old, new, around=base)] == ["looser"]


@pytest.mark.parametrize(("after", "kinds"), read_table(__file__, "EXAMPLES"))
def test_an_example_in_a_docstring_is_a_test(after: str, kinds: list[str]) -> None:
    code = 'def total(xs):\n    """\n    {}\n    """\n'
    old, new = ({"cart.py": code.format(i)} for i in (">>> total([1])\n    1", after))
    new["cart.py"] += "def tax(x):\n    return x\n"  # a new function of the code is no helper
    found = find_weakened_tests(old, new, read=read_examples)
    assert [item.kind for item in found] == kinds
    old, new = ({"tests/total.doctest": i} for i in (">>> total([1])\n1\n", f"{after}\n"))
    assert [i.kind for i in find_weakened_tests(old, new, read=read_examples)] == kinds
    assert are_examples_run({"tox.ini": b"pytest --doctest-modules"})
    assert not are_examples_run({"README.md": b"pytest --doctest-modules"})
