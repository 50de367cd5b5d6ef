#!/usr/bin/env python3
"""Makes a manual page: puts what the command prints about itself where the page asks for it.

  .\\" OPTIONS NAME     the options of a subcommand
  .\\" ENVIRONMENT      the variables

Usage: fill.py sluice page.man
"""

import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.rstrip("\n")


def main():
    sluice, page = sys.argv[1:]
    with open(page, encoding="utf-8") as lines:
        for line in lines.read().splitlines():
            if found := re.fullmatch(r'\.\\" OPTIONS (\S+)', line):
                line = output(sluice, "manual-options", found[1])
            elif line == '.\\" ENVIRONMENT':
                line = output(sluice, "info", "--config", "--format", "man")
            print(line)


main()
