"""The dispositor: understands requests, puts work into the queue, and answers. It cannot carry work out (S145)."""
