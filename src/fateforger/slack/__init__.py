"""Slack transport: payload in, command out; card in, Block Kit out. ``app.open_room`` wires it together."""
