"""Adapters: one implementation per outside thing of the port it serves. Only ``bootstrap`` imports them."""
