"""Some random programs between the guests, with every protocol forced in turn. The host alone runs outside, where it is quick."""


from sluice_dev.jobs import seeds
from sluice_dev.jobs.job import run_job
from sluice_dev.jobs.modes import ALL_MODES, MIXED_MODES, modes_in_guests
from sluice_dev.jobs.rdma_counts import by_rdma

SEEDS = 8
GUESTS = 2


def programs_in(mode):
    def run(jobs):
        ranks = GUESTS * (2 if mode in MIXED_MODES else 1)
        whole = next(block for block in seeds.BLOCKS if block.ranks == ranks)
        block = whole._replace(count=SEEDS)
        name, *arguments = seeds.command("random_program", block)
        settings = ALL_MODES[mode]
        program = jobs.program(name)
        expected = seeds.digests(run_job([program, *arguments], ranks, {}, jobs.timeout).stdout)
        result = jobs.run([name, *arguments], settings, ranks=ranks)
        forced = settings.get("SLUICE_RNDV")
        untaken = f"no message went by {forced}" if forced and not by_rdma(result.stderr)[forced] else ""
        return seeds.complaint(block, f"mode {mode}: {settings}", expected, result) or untaken
    return run


RANDOM = {f"random programs, {mode}": programs_in(mode) for mode in modes_in_guests(GUESTS)}
