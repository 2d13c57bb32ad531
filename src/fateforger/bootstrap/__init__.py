"""The only room that builds adapters: from settings to a running house, or to as much of it as a door needs."""
