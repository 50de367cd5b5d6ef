"""Registered memory: how often, within which limits, and that no transfer ever meets pages that are not the buffer's any more."""

from .jobs_over_guests import counted, unless_right

RANKS = 2
LITTLE_KB = 64
SOME_KB = 3072  # what the transport needs for itself, and a few buffers


def limited(kilobytes):
    """A command that runs another one which may lock no more memory than that, root's or not."""
    return ["sh", "-c", f'ulimit -l {kilobytes}; exec setpriv --bounding-set=-ipc_lock "$@"', "sh"]


def one_buffer(release):
    def run(jobs):
        rounds = 60
        result = jobs.run(["buffers", "one", rounds, "300000"], {"SLUICE_RELEASE": release, "SLUICE_BLOCKS": "on"})
        rows = counted(result)
        anew, found = rows.get("registered anew", 0), rows.get("memory registered: found in the cache", 0)
        return unless_right(result, (anew != RANKS, f"registered {anew:.0f} times by {RANKS} ranks"),
                            (found + anew < RANKS * rounds, f"{found:.0f} uses of what was registered, of {RANKS * rounds}"))
    return run


def many_buffers(jobs):
    result = jobs.run(["buffers", "many", "100", "12", "40000"], {"SLUICE_REG_ENTRIES": "8"})
    rows = counted(result)
    return unless_right(result, (not rows.get("evicted"), "nothing was evicted"))


def addresses_come_back(jobs):
    result = jobs.run(["buffers", "again", "24"])
    return unless_right(result, (result.stdout.count(" 0 of ") != 0, "no address came back"))


def little_to_lock(jobs):
    """Verbs cannot be had: tcp, and a warning."""
    result = jobs.run(["exchange", "4", "300000"], {"SLUICE_TRANSPORTS": "verbs,tcp"}, before=limited(LITTLE_KB))
    return unless_right(result, ("no verbs: " not in result.stderr, "no warning"),
                        (f"may lock {LITTLE_KB} KB" not in result.stderr, "the limit is not named"),
                        ("ulimit -l unlimited" not in result.stderr, "the command that raises it is not named"),
                        (not counted(result).get("messages sent over tcp, with control messages"), "nothing went over tcp"))


def some_to_lock(jobs):
    """Enough for the transport and some buffers: the kernel refuses others until some are given up, or for good; these are copied."""
    result = jobs.run(["buffers", "many", "100", "12", "100000"], before=limited(SOME_KB))
    rows = counted(result)
    return unless_right(result, (not rows.get("evicted"), "nothing was evicted"),
                        (not rows.get("tried again after an eviction"), "nothing was tried again"),
                        (not rows.get("refused"), "nothing was refused"),
                        (result.stderr.count("such messages are copied") not in (1, RANKS), "not one warning of each rank"))


MEMORY = {
    **{f"one buffer in a loop is registered once, release {release}": one_buffer(release) for release in ("off", "early")},
    "100 buffers with SLUICE_REG_ENTRIES=8": many_buffers,
    "memory that is freed and allocated again at its address": addresses_come_back,
    f"{LITTLE_KB} KB to lock": little_to_lock,
    f"{SOME_KB} KB to lock": some_to_lock,
}
