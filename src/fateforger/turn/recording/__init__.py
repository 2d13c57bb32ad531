"""Turns as values to be kept and run again: what went in, what a model was asked, what came out."""
