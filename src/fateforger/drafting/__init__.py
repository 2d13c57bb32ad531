"""Drafting of a day's plan from tasks and immovable time, with reasons, by large neighborhood search.

Other packages use five functions: ``draft_instance``, ``repair_plan``, ``refit_plan``, ``find_violations``, and
``explain_place``; the values that they take and return; and the documents of both: ``read_instance``,
``instance_schema``, and ``write_draft``. A test in ``tests/architecture`` lists them by module. A ``Day`` is an
instance in the terms of a session; it drafts itself. The optimizer's adapter alone reads the compiled problem.
"""
