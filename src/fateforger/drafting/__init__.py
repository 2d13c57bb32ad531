"""Drafting of a day's plan from tasks and immovable time, with reasons."""
