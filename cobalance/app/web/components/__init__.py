"""Parts of a page about a dataset: filters, tables, pictures, galleries and forms."""
