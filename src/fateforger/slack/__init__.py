"""The chat side: Slack payload in, command out; card in, Block Kit out. ``app.open_room`` puts it together."""
