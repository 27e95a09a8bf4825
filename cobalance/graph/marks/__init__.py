"""What people note of a dataset: tags that become concepts or exclusions, notes, saved views."""
