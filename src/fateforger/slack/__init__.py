"""Slack transport: payload in, command out; card in, Block Kit out.

:func:`fateforger.slack.app.run_slack_app` connects it.
"""
