"""Lists of tasks that a person keeps elsewhere, over MCP: read, never written to.

ticktick.py   the port: one look, bounded in time and size     choosing.py  which of a server's tools lists tasks
answers.py    what a tool answered -> the entries in it        entries.py   an entry -> a task, cleaned
client.py     the HTTP client, with the token and a limit of bytes
"""

from fateforger.adapters.tasklists.ticktick import LOOK_SECONDS, TickTick

__all__ = ["LOOK_SECONDS", "TickTick"]
