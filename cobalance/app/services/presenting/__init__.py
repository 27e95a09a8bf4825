"""What people are told of results: findings in words, tables, the glossary, the next step."""
