"""Slack transport: payload in, command out; card in, Block Kit out.

:func:`fateforger.slack.app.open_slack_app` connects it.
"""
