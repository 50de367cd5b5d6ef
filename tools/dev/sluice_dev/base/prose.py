"""Markdown whose prose has lines of at most WIDTH, and what in a page breaks the rules for prose and tables."""

import re

WIDTH = 100
CELL_WIDTH = 120
MAX_WORDS = 30  # of a sentence; a code span or a link counts as one
TOKEN = re.compile(r"(?:`[^`]*`|!?\[[^\]]*\]\([^)]*\)|\S)+")  # a code span or a link is never broken
STARTS_BLOCK = re.compile(r"(?:[-+*]|\d+[.)]|#+|>|\|.*)$")  # what a line of prose must not begin with
ITEM = re.compile(r"(\s*(?:[-+*]|\d+[.)])\s+)")
VERBATIM = re.compile(r"#|\||    |!\[|<|$")
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+")
HEADLESS = re.compile(r"(?:What|Whatever|Who|Whoever) .*[^?]$")  # a clause in the place of a subject


def _blocks(lines):
    """(whether it is prose, its lines) for each paragraph, list item, table, heading and listing."""
    block, fenced = [], False
    for line in lines:
        fence = line.startswith("```")
        verbatim = fenced or fence or (VERBATIM.match(line) and not (block and line.startswith("    ") and ITEM.match(block[0])))
        if block and (verbatim or ITEM.match(line)):
            yield True, block
            block = []
        if verbatim:
            yield False, [line]
        else:
            block.append(line)
        fenced ^= fence
    if block:
        yield True, block


def _wrapped_block(block, width):
    item = ITEM.match(block[0])
    first = item[1] if item else ""
    tokens = TOKEN.findall(" ".join(block)[len(first):])
    lines = [[]]
    for token in tokens:
        room = width - len(first) - sum(len(word) + 1 for word in lines[-1])
        if lines[-1] and len(token) > room:
            lines.append([lines[-1].pop()] if STARTS_BLOCK.match(token) and len(lines[-1]) > 1 else [])
        lines[-1].append(token)
    return [(" " * len(first) if number else first) + " ".join(words) for number, words in enumerate(lines)]


def wrapped(text, width=WIDTH):
    """The same page, its paragraphs and list items filled anew."""
    lines = []
    for is_prose, block in _blocks(text.splitlines()):
        lines += _wrapped_block(block, width) if is_prose else block
    return "\n".join(lines) + "\n"


def cells_of(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def _sentences(block):
    text = " ".join(line.strip() for line in block)
    item = ITEM.match(text)
    return SENTENCE_END.split(text[len(item[1]) if item else 0:])


def _fault_of(sentence):
    """None, or what is wrong: its subject is a clause, where a noun says more, or it has more than one thought."""
    if HEADLESS.match(sentence):
        return f"a sentence without a subject: {sentence}"
    words = len(TOKEN.findall(sentence))
    return f"a sentence of {words} words: {sentence}" if words > MAX_WORDS else None


def faults(text):
    """(number of the line, what is wrong with it)."""
    number = 1
    for is_prose, block in _blocks(text.splitlines()):
        for fault in filter(None, map(_fault_of, _sentences(block) if is_prose else ())):
            yield number, fault
        for line in block:
            if is_prose and len(line) > WIDTH and len(TOKEN.findall(line)) > 2:
                yield number, f"a line of {len(line)}"
            for cell in cells_of(line) if line.startswith("|") else ():
                if len(cell) > CELL_WIDTH:
                    yield number, f"a table cell of {len(cell)}"
            number += 1
