"""The index of constraints in Mem0: one memory per constraint, accessed by one thread, with telemetry off.

Mem0 and its dependencies take more than a second to import, which happens on first use, on the index thread.
"""
