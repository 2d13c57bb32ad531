"""Comparing a plan with a calendar: snapshot and ledger in, a reversible plan of ops out."""
