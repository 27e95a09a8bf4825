"""What several pages draw: tables, filters, pictures, galleries and forms."""
