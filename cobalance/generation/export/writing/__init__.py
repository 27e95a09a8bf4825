"""Write an export: one engine for all formats, staged and swapped in when complete."""
