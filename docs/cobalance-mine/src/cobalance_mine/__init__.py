"""Plug-ins for cobalance, one of each kind."""
