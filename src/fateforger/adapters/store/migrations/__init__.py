"""Alembic scripts, run when a database is opened."""
