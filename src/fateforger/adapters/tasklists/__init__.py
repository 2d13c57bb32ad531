"""A person's task lists in other services, over MCP: read, never written to.

ticktick.py   the port: one read, bounded in time and size     choosing.py  selects the tool that lists tasks
answers.py    a tool's answer -> the entries in it             entries.py   an entry -> a cleaned task
client.py     the HTTP client, with the token and a byte limit
"""

from fateforger.adapters.tasklists.ticktick import LOOK_SECONDS, TickTick

__all__ = ["LOOK_SECONDS", "TickTick"]
