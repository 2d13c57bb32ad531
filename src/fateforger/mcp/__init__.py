"""Access for other agents over the Model Context Protocol.

Tools read plans and constraints, work with tasks, and stage proposals. They reach no calendar and cannot write a
constraint. :class:`~fateforger.mcp.reach.AgentAccess` is all they get, and the import contracts enforce it.
For that reason, ports are imported one by one.
"""

from fateforger.mcp.desk import Answer, CallHandler
from fateforger.mcp.reach import AgentAccess

__all__ = ["AgentAccess", "Answer", "CallHandler"]
