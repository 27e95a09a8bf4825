"""The ground that every room stands on: errors, options, records, registries, progress, names."""
