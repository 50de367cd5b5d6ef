"""The steps of scripts/test."""
