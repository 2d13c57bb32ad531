"""The front desk: understands what a message wants, puts work into the queue, answers. It has nothing to carry work out
with; that is the executor's (S145)."""
