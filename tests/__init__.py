"""The suites below tests/, as modules that tools/dev/run.py runs. It has this file so that no other package of the name is found first."""
