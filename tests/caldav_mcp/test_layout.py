from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from caldav_mcp.pane.day import Place, side_by_side

SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)).map(lambda t: (t[0], t[0] + t[1])), max_size=14)


def test_events_after_each_other_have_the_whole_width() -> None:
    assert side_by_side([(0, 10), (10, 20), (30, 40)]) == [Place(0, 1, 1)] * 3


def test_overlapping_events_share_it() -> None:
    assert side_by_side([(0, 10), (5, 15)]) == [Place(0, 2, 1), Place(1, 2, 1)]


def test_a_freed_column_is_used_again() -> None:
    assert side_by_side([(0, 30), (0, 10), (10, 20)]) == [Place(0, 2, 1), Place(1, 2, 1), Place(1, 2, 1)]


def test_an_event_widens_over_columns_free_beside_it() -> None:
    assert side_by_side([(0, 30), (0, 10), (0, 10), (15, 25)]) == [
        Place(0, 3, 1),
        Place(1, 3, 1),
        Place(2, 3, 1),
        Place(1, 3, 2),
    ]


def test_nothing_is_nothing() -> None:
    assert side_by_side([]) == []


@given(SPANS)
def test_no_two_events_cover_each_other(spans: list[tuple[int, int]]) -> None:
    places = side_by_side(spans)
    for one, other in combinations(range(len(spans)), 2):
        at_once = spans[one][0] < spans[other][1] and spans[other][0] < spans[one][1]
        if at_once:
            assert places[one].columns == places[other].columns
            first, second = sorted((places[one], places[other]))
            assert first.column + first.width <= second.column


@given(SPANS)
def test_a_group_has_as_many_columns_as_events_at_its_busiest_moment(spans: list[tuple[int, int]]) -> None:
    for n, place in enumerate(side_by_side(spans)):
        group = group_of(n, spans)
        busiest = max(sum(spans[m][0] <= spans[k][0] < spans[m][1] for m in group) for k in group)
        assert place.columns == busiest
        assert 0 <= place.column < place.column + place.width <= place.columns


def group_of(n: int, spans: list[tuple[int, int]]) -> set[int]:
    """Return all spans that an event touches, directly or through others."""
    group, fresh = set[int](), {n}
    while fresh:
        group |= fresh
        fresh = {
            m for m in range(len(spans)) if m not in group
            and any(spans[m][0] < spans[k][1] and spans[k][0] < spans[m][1] for k in group)
        }  # fmt: skip
    return group
