"""Durable state in SQL: one SQLite file, or PostgreSQL by URL."""
