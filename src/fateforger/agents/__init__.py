"""Access for other agents over the Model Context Protocol.

Tools read plans and constraints, work with tasks, and stage proposals. They reach no calendar and cannot write a
constraint. :class:`~fateforger.agents.access.AgentAccess` is all they get, and the import contracts enforce it.
"""
