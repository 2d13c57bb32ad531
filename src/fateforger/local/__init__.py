"""What stands in for an outside service, each speaking the real protocol and importing nothing of ours."""
