"""Slack transport: payload in, command out; card in, Block Kit out.

:func:`fateforger.slack.app.open_room` connects it.
"""
