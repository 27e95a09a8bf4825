"""The folder of an export: staged beside an earlier one, and swapped in when complete."""
