"""A person's task queue: its cards and forms, the dispatch of requests, and the execution of tasks."""
