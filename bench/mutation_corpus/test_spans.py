import pytest
from spans import Spans


@pytest.fixture
def spans():
    return Spans([(1, 4), (7, 9), (20, 30)])


def test_kept_in_order():
    assert list(Spans([(7, 9), (1, 4)])) == [(1, 4), (7, 9)]


def test_add_touching(spans):
    spans.add(4, 7)
    assert list(spans) == [(1, 9), (20, 30)]


def test_add_overlapping(spans):
    spans.add(3, 25)
    assert list(spans) == [(1, 30)]


def test_add_around(spans):
    spans.add(0, 10)
    assert list(spans) == [(0, 10), (20, 30)]


def test_add_within(spans):
    spans.add(21, 22)
    assert list(spans) == [(1, 4), (7, 9), (20, 30)]


def test_add_apart(spans):
    spans.add(5, 6)
    assert list(spans) == [(1, 4), (5, 6), (7, 9), (20, 30)]


def test_add_nothing(spans):
    spans.add(5, 5)
    assert len(spans) == 15


@pytest.mark.parametrize("what", ["add", "remove", "gaps"])
def test_the_wrong_way_round(spans, what):
    with pytest.raises(ValueError, match="5 is after 4"):
        getattr(spans, what)(5, 4)


def test_contains(spans):
    assert [n for n in range(11) if n in spans] == [1, 2, 3, 7, 8]
    assert 29 in spans
    assert 30 not in spans


def test_length():
    assert len(Spans()) == 0
    assert len(Spans([(2, 5), (9, 10)])) == 4


def test_truth(spans):
    assert spans
    assert not Spans()


def test_equality(spans):
    assert spans == Spans([(20, 30), (7, 9), (1, 2), (2, 4)])
    assert spans != Spans([(1, 4)])
    assert spans != [(1, 4), (7, 9), (20, 30)]


def test_remove_the_middle(spans):
    spans.remove(22, 25)
    assert list(spans) == [(1, 4), (7, 9), (20, 22), (25, 30)]


def test_remove_over_several(spans):
    spans.remove(3, 21)
    assert list(spans) == [(1, 3), (21, 30)]


def test_remove_a_whole_one(spans):
    spans.remove(7, 9)
    assert list(spans) == [(1, 4), (20, 30)]


def test_remove_what_is_not_there(spans):
    spans.remove(4, 7)
    spans.remove(2, 2)
    assert list(spans) == [(1, 4), (7, 9), (20, 30)]


def test_gaps(spans):
    assert spans.gaps(0, 40) == [(0, 1), (4, 7), (9, 20), (30, 40)]
    assert spans.gaps(2, 8) == [(4, 7)]


def test_gaps_at_edges(spans):
    assert spans.gaps(4, 7) == [(4, 7)]
    assert spans.gaps(21, 22) == []
    assert spans.gaps(1, 20) == [(4, 7), (9, 20)]


def test_both(spans):
    other = Spans([(0, 2), (3, 8), (25, 40)])
    assert list(spans.both(other)) == [(1, 2), (3, 4), (7, 8), (25, 30)]
    assert not spans.both(Spans([(4, 7)]))


def test_both_the_other_way(spans):
    assert list(Spans([(0, 100)]).both(spans)) == list(spans)


def test_first_free(spans):
    assert spans.first_free(1) == 0
    assert spans.first_free(2) == 4
    assert spans.first_free(4) == 9
    assert spans.first_free(12) == 30
    assert spans.first_free(3, 8) == 9


def test_first_free_needs_a_size(spans):
    with pytest.raises(ValueError):
        spans.first_free(0)
    assert Spans().first_free(1, 5) == 5
