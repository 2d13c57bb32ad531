"""What a message or a Home tab held before its last changes. A page may not show a change yet when somebody presses
what was there; the app is told, as Slack tells it, and decides what that means now."""

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from typing import Any

from localslack.blocks.elements import PlacedElement, find_element

MOST_PLACES = 200
MOST_CHANGES = 4

Blocks = Sequence[Mapping[str, Any]]


class Replaced:
    """A place is named by what no other has: the channel and ts of a message, the id of a Home tab's view. Kept in
    memory, for the places that were changed last."""

    def __init__(self) -> None:
        self._before: OrderedDict[tuple[str, ...], deque[Blocks]] = OrderedDict()

    def keep(self, place: tuple[str, ...], blocks: Blocks) -> None:
        """The place holds something else from now on."""
        if blocks:
            self._before.setdefault(place, deque(maxlen=MOST_CHANGES)).appendleft(blocks)
            self._before.move_to_end(place)
        if len(self._before) > MOST_PLACES:
            self._before.popitem(last=False)

    def find(self, place: tuple[str, ...], block_id: str, action_id: str) -> PlacedElement | None:
        """The element as it was there last."""
        found = (find_element(blocks, block_id, action_id) for blocks in self._before.get(place, ()))
        return next((placed for placed in found if placed is not None), None)
