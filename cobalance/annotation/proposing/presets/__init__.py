"""Questions and caption templates as data: as GELDA asks them, and as we do by default."""
