"""Decides who may call, what a page may load, and what may be recorded."""
