"""Plans by linear and integer programming."""
