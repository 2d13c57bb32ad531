"""Constraints in Notion behind :class:`ConstraintSource`, through the official API."""
