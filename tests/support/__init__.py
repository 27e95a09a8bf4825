"""Datasets, files, servers and programs that tests of several rooms use."""
