"""Which random programs there are, and what their output says."""

import collections
import re

Block = collections.namedtuple("Block", "first count ranks arguments")

# Seeds 1 to 230; what a seed does also depends on the number of ranks and threads, so a seed belongs to one block. Later
# seeds come in the same blocks, again and again.
BLOCKS = [
    Block(1, 40, 2, ["0"]),
    Block(41, 40, 3, ["1"]),
    Block(81, 40, 4, ["1"]),
    Block(121, 30, 2, ["2"]),
    Block(151, 25, 3, ["3"]),
    Block(176, 25, 2, ["3", "shared"]),
    Block(201, 15, 1, ["0"]),
    Block(216, 15, 1, ["3"]),
]
CYCLE = sum(block.count for block in BLOCKS)


def blocks_of(first, count):
    """The blocks, or parts of them, that `count` seeds from `first` on consist of."""
    found = []
    seed = first
    while seed < first + count:
        offset = (seed - 1) // CYCLE * CYCLE
        block = next(block for block in BLOCKS if seed - offset < block.first + block.count)
        end = min(block.first + offset + block.count, first + count)
        found.append(block._replace(first=seed, count=end - seed))
        seed = end
    return found


def window_blocks_of(first, count, length=20):
    """Those of `random_windows`: all numbers of ranks by turns, one after the other."""
    ranks = (2, 3, 4, 1, 5)
    starts = range(first, first + count, length)
    return [Block(start, min(length, first + count - start), ranks[i % len(ranks)], []) for i, start in enumerate(starts)]


def command(program, block):
    return [program, str(block.first), str(block.count), *block.arguments]


def digests(output):
    """(seed, rank) and the set of digests printed for it: one, however often the seed was repeated."""
    found = collections.defaultdict(set)
    for seed, rank, digest in re.findall(r"^seed (\d+) rank (\d+) digest ([0-9a-f]+)$", output, re.MULTILINE):
        found[int(seed), int(rank)].add(digest)
    return found


def first_difference(block, expected, found):
    """The first seed that some rank did not finish, or finished with another digest than expected (if any was)."""
    for seed in range(block.first, block.first + block.count):
        for rank in range(block.ranks):
            digest = found.get((seed, rank), set())
            if len(digest) != 1 or expected and digest != expected.get((seed, rank)):
                return seed
    return None


def complaint(block, label, expected, result, program="random_program"):
    """Empty, or what is wrong with the job that ran the block, and how to run it again."""
    found = digests(result.stdout)
    seed = first_difference(block, expected, found)
    if result.ok and seed is None:
        return ""
    where = f"seed {seed}" if seed is not None else "after the last seed"
    again = f"mpirun -np {block.ranks} {program} {seed or block.first} 1 {' '.join(block.arguments)}   # {label}"
    lines = [f"{where}; again: {again}"]
    if result.ok:
        lines += [f"rank {rank}: digest {found.get((seed, rank))}, host {expected.get((seed, rank))}" for rank in range(block.ranks)]
    else:
        result.stdout = ""
        lines.append(result.describe())
    return "\n".join(lines)
