#!/usr/bin/env python3
"""Makes the page of `sluice timeline` of its parts, as a C++ header: what stands before the trace's data, and what follows it.

Usage: embed.py page.html page.css script.js ...
"""

import pathlib
import re
import sys

DATA = "@DATA@"
PIECE = 8000  # characters of a string literal


def literal(name, text):
    pieces = [text[start:start + PIECE] for start in range(0, len(text), PIECE)]
    lines = "\n".join(f'    R"page~({piece})page~"' for piece in pieces)
    return f"inline constexpr std::string_view {name} =\n{lines};\n"


def main():
    page, style, *scripts = (pathlib.Path(path).read_text(encoding="utf-8") for path in sys.argv[1:])
    code = "\n".join(scripts)
    for forbidden in re.findall(r"https?://|</script|<!--", style + code):
        sys.exit(f"embed.py: {forbidden!r} must not be in the page's style and scripts")
    whole = page.replace("@STYLE@", style).replace("@SCRIPT@", code)
    before, after = whole.split(DATA)
    print("// Made by embed.py.\n#pragma once\n\n#include <string_view>\n\nnamespace sluice::timeline {\n")
    print(literal("page_before_data", before))
    print(literal("page_after_data", after))
    print("}  // namespace sluice::timeline")


main()
