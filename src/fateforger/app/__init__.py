"""Construction of the adapters, for the whole program or for the parts that a command needs."""
