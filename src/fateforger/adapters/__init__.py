"""Adapters: one implementation per outside thing of the port it serves. Only ``app`` constructs them."""
