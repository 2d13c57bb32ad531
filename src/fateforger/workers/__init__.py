"""Durable background work: workers claim jobs from a lane, one at a time per key, until each is done or given up."""
