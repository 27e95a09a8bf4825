"""The pages, a folder each, which declares it as `PAGE` in `page.py`."""
