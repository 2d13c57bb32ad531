"""Durable work: workers that take jobs from a lane, one at a time per key, until each is done or given up."""
