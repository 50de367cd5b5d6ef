"""Runs a module of the package beside this file, or of tests/:  python3 -B tools/dev/run.py MODULE ARGUMENT...

The commands in scripts/ and the `run` files call it. This is the one place that says where Python finds the tree's own
modules. The directory of this file comes first by itself, as that of any script.
"""

import importlib
import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[2]))
del sys.argv[0]
importlib.import_module(sys.argv[0]).main()
