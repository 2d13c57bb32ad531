"""Slack transport: payload in, command out; card in, Block Kit out.

:func:`fateforger.app.slack.run_slack_app` connects it.
"""
