"""Quality of a plan: its level, its findings, and fixes.

All of this is advice: nothing here blocks a plan.
"""
