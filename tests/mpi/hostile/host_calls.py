"""Programs that make calls of the host's while messages are on their way (page-guard rules 1 and 9)."""

from .program import Program

# A process that has released little thinks that a release costs little, so each of these has its own.
BESIDE = ("barrier", "sum", "sum_in_place", "trees", "type_with_gaps", "packing", "nonblocking_barrier",
          "nonblocking_sum", "shared_window")
BESIDE_CASES = [f"beside_{'' if name in ('trees', 'packing') else 'a_'}{name}" for name in BESIDE]
WAITING_CASES = (
    "a_bcast_from_inside", "a_sum_into_it", "a_bcast_of_all", "a_long_sum_of_its_neighbour", "a_gather_of_its_neighbour",
    "a_nonblocking_sum_into_it", "a_long_nonblocking_sum_of_its_neighbour", "an_operation_that_touches_it",
    "an_operation_that_writes_it", "different_lengths", "a_barrier_before_it_is_sent", "a_sum_before_it_is_sent",
    "a_nonblocking_barrier_before_it_is_sent", "a_store_before_it_is_sent",
)
# What is written by the sender waits for a sender that is stopped; any other single copy its receiver helps with.
WRITTEN, STREAMED = {"SLUICE_RNDV": "rput"}, {"SLUICE_TRANSPORTS": "tcp"}


def program(name, cases, env, **more):
    env = {"SLUICE_COLLECTIVES": "off", **env}
    return Program(f"host_calls_{name}", "host_calls", ranks=(3, 4), alone=False, env=env, arguments=cases, **more)


PROGRAMS = [
    *(program(case, (case,), STREAMED, released="calls of the host's beside releases") for case in BESIDE_CASES),
    program("beside_a_barrier_written", ("beside_a_barrier",), WRITTEN, released="calls of the host's beside releases"),
    # One-sided calls go through memory, which a stream does not reach.
    *(program(f"beside_a_{kind}_window", (f"beside_a_{kind}_window",), {**WRITTEN, "SLUICE_ONESIDED": "all"},
              released="calls of the host's beside releases")
      for kind in ("created", "dynamic")),
    program("that_wait", WAITING_CASES, STREAMED),
    program("that_wait_written", WAITING_CASES, WRITTEN),
]
