"""Language models: questions with answers that can be parsed, and a record of all that was said."""
