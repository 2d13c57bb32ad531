"""Rules about all the blocks of one payload together."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from localslack.blocks.rules import Findings
from localslack.limits import LIMITS
from localslack.text import count_characters

Blocks = Sequence[Mapping[str, Any]]


def together(blocks: Blocks, at: str, findings: Findings) -> None:
    """Duplicate ids and sums over several blocks; each block is already known to have its right shape."""
    _unique_block_ids(blocks, at, findings)
    for index, block in enumerate(blocks):
        _unique_action_ids(block, f"{at}/{index}", findings)
    markdown = sum(count_characters(block["text"]) for block in blocks if block["type"] == "markdown")
    if markdown > LIMITS["markdown.total"]:
        findings.add(f"markdown must be less than {LIMITS['markdown.total'] + 1} characters in all", at)
    charts = sum(block["type"] == "data_visualization" for block in blocks)
    if charts > LIMITS["data_visualization.per_message"]:
        findings.add(f"no more than {LIMITS['data_visualization.per_message']} charts allowed", at)
    _tables(blocks, at, findings)
    _one_focus(blocks, at, findings)


def _unique_block_ids(blocks: Blocks, at: str, findings: Findings) -> None:
    seen: set[str] = set()
    for place, block in _with_children(blocks, at):
        block_id = block.get("block_id")
        if block_id is not None and block_id in seen:
            findings.add(f'block_id "{block_id}" already exists', f"{place}/block_id")
        elif block_id is not None:
            seen.add(block_id)


def _unique_action_ids(block: Mapping[str, Any], at: str, findings: Findings) -> None:
    seen: set[str] = set()
    for index, element in enumerate(block.get("elements") or []):
        action_id = element.get("action_id")
        if action_id is not None and action_id in seen:
            findings.add(f'action_id "{action_id}" already exists', f"{at}/elements/{index}/action_id")
        elif action_id is not None:
            seen.add(action_id)


def _tables(blocks: Blocks, at: str, findings: Findings) -> None:
    tables = [(place, block) for place, block in _with_children(blocks, at) if block["type"] in {"table", "data_table"}]
    if len(tables) > 1:
        findings.add("only one table allowed", tables[1][0])
    for place, table in tables:
        if _characters(table["rows"]) > LIMITS["table.total"]:
            findings.add(f"table must be less than {LIMITS['table.total'] + 1} characters in all", f"{place}/rows")


def _characters(value: Any) -> int:
    """Return the characters of all texts inside a table."""
    if isinstance(value, list):
        return sum(_characters(one) for one in value)
    if isinstance(value, dict):
        own = count_characters(value["text"]) if isinstance(value.get("text"), str) else 0
        return own + sum(_characters(one) for one in value.values())
    return 0


def _one_focus(blocks: Blocks, at: str, findings: Findings) -> None:
    focused = 0
    for place, block in _with_children(blocks, at):
        inside = [block.get("element"), block.get("accessory"), *(block.get("elements") or [])]
        if any(isinstance(element, dict) and element.get("focus_on_load") for element in inside):
            focused += 1
            if focused > 1:
                findings.add("only one element may have focus_on_load", place)


def _with_children(blocks: Blocks, at: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for index, block in enumerate(blocks):
        yield f"{at}/{index}", block
        for field in ("child_blocks", "elements"):
            if block["type"] in {"container", "carousel"} and field in block:
                yield from _with_children(block[field], f"{at}/{index}/{field}")
