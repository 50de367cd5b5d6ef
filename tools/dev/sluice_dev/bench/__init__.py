"""Benchmarks: what runs their programs, compares, and writes the pages about them."""
