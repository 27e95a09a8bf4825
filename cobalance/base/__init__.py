"""The ground that every room stands on: errors, options, records, registries, progress, names."""

PUBLIC = (
    "arrays",
    "documents",
    "errors",
    "files",
    "grouping",
    "installation",
    "judges",
    "libraries",
    "mention_rows",
    "names",
    "options",
    "plugin_offers",
    "plugins",
    "plurals",
    "progress",
    "readable_names",
    "records",
    "registry",
    "run_log",
    "safe_text",
)
"""Modules that other rooms may import; a test compares them with the imports."""
