"""Shared controls of the concept graph: axis, centre, colours and steps."""
