"""A door for other agents, over the Model Context Protocol.

What is here can read plans and constraints, work with tasks, and write down proposals. It knows no calendar and no way
to write a constraint: :class:`~fateforger.mcp.reach.Reach` is all it gets, and the import contracts keep the rest out.
Ports are imported one by one for that reason.
"""

from fateforger.mcp.desk import Answer, Desk
from fateforger.mcp.reach import Reach

__all__ = ["Answer", "Desk", "Reach"]
