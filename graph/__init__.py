"""The concept graph: what it holds, where it lives, and the exact counting over it."""
