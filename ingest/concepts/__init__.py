"""Where concepts and classes come from: labels, vocabularies, captions, renaming tables."""
