"""Earlier blocks of messages and Home tabs.

A page may not show a change yet when a person presses an element that was there. The app gets the action, as from
Slack, and decides what that means now.
"""

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from typing import Any

from localslack.blocks.elements import PlacedElement, find_element

MOST_PLACES = 200
MOST_CHANGES = 4

Blocks = Sequence[Mapping[str, Any]]


class Replaced:
    """Earlier blocks of the places that were changed last, in memory.

    The name of a place is unique: the channel and ts of a message, or the id of a Home tab's view.
    """

    def __init__(self) -> None:
        self._before: OrderedDict[tuple[str, ...], deque[Blocks]] = OrderedDict()

    def keep(self, place: tuple[str, ...], blocks: Blocks) -> None:
        """Remember the blocks of a place that is about to change."""
        if blocks:
            self._before.setdefault(place, deque(maxlen=MOST_CHANGES)).appendleft(blocks)
            self._before.move_to_end(place)
        if len(self._before) > MOST_PLACES:
            self._before.popitem(last=False)

    def find(self, place: tuple[str, ...], block_id: str, action_id: str) -> PlacedElement | None:
        """Return the element as it was there last."""
        found = (find_element(blocks, block_id, action_id) for blocks in self._before.get(place, ()))
        return next((placed for placed in found if placed is not None), None)
