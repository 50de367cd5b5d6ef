/* events DIRECTORY GROUP: two ranks do, case by case, what each kind of record is about, and log in DIRECTORY/log.RANK what a
 * trace must tell of it, event for event:
 *
 *   CASE name rank begin end                 in nanoseconds of CLOCK_MONOTONIC
 *   TOLD name rank times {"event": ...}      a record, with those of its members that the program knows; times: 1, or + for one
 * or more, * for any number, ? for none or one, ~ for one that may also come later
 *
 * The log is written at the end, since output would complete what was released. GROUP: `usual`, or cases that want settings of
 * their own: `tcp` and `send_release`. */
#include "events.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int rank, tag;
int line, received_at;
const char *told_file, *function;
int sent_to_other, came_from_other;
static const char* name;
static char log_text[1 << 18];
static size_t used;

static long long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

void compute(long long us) {
  for (long long end = now_ns() + us * 1000; now_ns() < end;) continue;
}

void told(const char* times, const char* event, const char* members, ...) {
  va_list arguments;
  used += (size_t)snprintf(log_text + used, sizeof log_text - used, "TOLD %s %d %s {\"event\": \"%s\"", name, rank, times, event);
  va_start(arguments, members);
  used += (size_t)vsnprintf(log_text + used, sizeof log_text - used, members, arguments);
  va_end(arguments);
  used += (size_t)snprintf(log_text + used, sizeof log_text - used, "}\n");
}

void told_of_call(const char* call) { told("1", "call", ", \"by\": \"carried\", \"at\": \"%s at %s:%d (%s)\"", call, WHERE); }

/* A receive that was posted, and how its message was found and ended. */
void told_of_receive(const void* buffer, int capacity, const char* how) {
  told("1", "post_receive", ", \"peer\": %d, \"tag\": %d, \"how\": \"%s\", \"capacity\": %d, \"address\": \"0x%llx\"", 1 - rank,
       tag, how, capacity, ADDRESS(buffer));
}
void told_of_match(int bytes, const char* how) {
  told("1", "match", ", \"peer\": %d, \"tag\": %d, \"how\": \"%s\", \"bytes\": %d, \"message\": %d", 1 - rank, tag, how, bytes,
       ++came_from_other);
}
void told_of_end(int bytes, const char* outcome) {
  told("1", "complete", ", \"peer\": %d, \"tag\": %d, \"bytes\": %d, \"outcome\": \"%s\"", 1 - rank, tag, bytes, outcome);
}
void told_of_small_send(const void* buffer, int bytes, const char* call) {
  told("1", "post_send",
       ", \"peer\": %d, \"tag\": %d, \"how\": \"at once\", \"bytes\": %d, \"address\": \"0x%llx\", \"message\": %d, \"at\": \"%s "
       "at %s:%d (%s)\"",
       1 - rank, tag, bytes, ADDRESS(buffer), ++sent_to_other, call, WHERE);
  told_of_call(call);
}
/* One that goes by rendezvous: announced, answered, and over. Its memory may be prepared for others to write to. */
void told_of_announcement(const void* buffer) {
  told("?", "migrate", ", \"result\": \"none\"");
  told("1", "post_send",
       ", \"peer\": 0, \"tag\": %d, \"how\": \"blocking\", \"bytes\": %d, \"address\": \"0x%llx\"" AT("MPI_Send"), tag, large,
       ADDRESS(buffer), WHERE);
  told("1", "message_out", ", \"peer\": 0, \"tag\": %d, \"kind\": \"rts\", \"message\": %d", tag, ++sent_to_other);
}
/* Each side says that it is done; the receiver does not where the sender knows anyway. */
void told_of_fins(void) { told("*", "message_out|message_in", ", \"peer\": %d, \"kind\": \"fin\"", 1 - rank); }

void told_of_answer(void) {
  told("1", "message_in", ", \"peer\": 0, \"kind\": \"cts\"");
  told_of_fins();
  told_of_end(large, "success");
  told("?", "wait", ", \"ended\": \"complete\"");
  told_of_call("MPI_Send");
}

/* Rank 0 says that it is about to receive, so that rank 1 is later than that however busy the machine is. */
char word[8];
void say_go(void) {
  NEXT_LINE;
  MPI_Send(word, sizeof word, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
  told_of_small_send(word, sizeof word, "MPI_Send");
}
void hear_go(void) {
  told("?", "arrive", ", \"peer\": 0, \"tag\": %d, \"bytes\": 8", tag);
  NEXT_LINE;
  MPI_Recv(word, sizeof word, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told_of_receive(word, sizeof word, "blocking");
  told("1", "match", ", \"peer\": 0, \"tag\": %d, \"bytes\": 8, \"message\": %d", tag, ++came_from_other);
  told_of_end(sizeof word, "success");
  told("?", "wait", ", \"ended\": \"complete\"");
  told_of_call("MPI_Recv");
  usleep(late_us);
}

void send_large_late(char* buffer) {
  hear_go();
  NEXT_LINE;
  MPI_Send(buffer, large, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  told_of_announcement(buffer);
  told_of_answer();
}

/* A receive whose call has returned: what is told until then. */
void told_of_release(const char* buffer) {
  told_of_receive(buffer, large, "blocking");
  told("*", "not_released", ", \"why\": \"rest arrives sooner than a release costs\"");
  told("?", "migrate", ", \"result\": \"none\"");
  told("1", "release",
       ", \"peer\": 1, \"tag\": %d, \"how\": \"unmatched\", \"bytes\": %d, \"address\": \"0x%llx\", \"pages\": %d", tag, large,
       ADDRESS(buffer), large / 4096);
  told("1", "wait", ", \"ended\": \"released\"");
  told_of_call("MPI_Recv");
}
/* How its message came. */
static void told_of_choice(void) {
  told("1", "message_out", ", \"peer\": 1, \"tag\": %d, \"kind\": \"cts\"", tag);
  told("1", "protocol", ", \"peer\": 1, \"protocol\": \"coop\", \"why\": \"both sides can copy\", \"missing\": %d", large);
}
void told_of_transfer(void) {
  told_of_choice();
  told_of_fins();
}
void told_of_clearance(void) {
  told_of_match(large, "rendezvous+released");
  told_of_choice();
}
void told_of_coming(void) {
  told_of_clearance();
  told_of_fins();
}
void told_of_last_of_release(const char* how) {
  told("1", "release_end", ", \"how\": \"%s\"" AT("MPI_Recv"), how, told_file, received_at, function);
  told_of_end(large, "success");
}
void told_of_end_of_release(void) {
  told("+", "open", " ");
  told_of_last_of_release("");
}
void told_of_end_of_settled_release(void) {
  told("+", "open", " ");
  told_of_last_of_release("at once|"); /* as fast as the processor comes to the call */
}
void probe_until_there(const char* kind, int bytes) {
  say_go();
  for (int there = 0; !there;) MPI_Iprobe(1, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  told("1", "arrive", ", \"peer\": 1, \"tag\": %d, \"kind\": \"%s\", \"bytes\": %d, \"message\": %d", tag, kind, bytes,
       came_from_other + 1);
}

typedef void Case(char*);

static const struct {
  const char *group, *name;
  Case* run;
} cases[] = {
    {"usual", "eager_expected", eager_expected},
    {"usual", "eager_unexpected", eager_unexpected},
    {"usual", "rendezvous_unexpected", rendezvous_unexpected},
    {"usual", "synchronous", synchronous},
    {"usual", "buffered", buffered},
    {"usual", "cancelled", cancelled},
    {"usual", "truncated", truncated},
    {"usual", "wildcard", wildcard},
    {"usual", "untouched", untouched},
    {"usual", "touched", touched},
    {"usual", "unpacked", unpacked},
    {"usual", "something_else_written", something_else_written},
    {"usual", "written", written},
    {"usual", "memory_given_back", memory_given_back},
    {"usual", "counted", counted},
    {"usual", "forked", forked},
    {"usual", "sent_on", sent_on},
    {"usual", "held", held},
    {"usual", "acknowledgement_held", acknowledgement_held},
    {"send_release", "released_send", released_send},
    {"tcp", "send_set_aside", send_set_aside},
};

static void log_case(long long begin) {
  used += (size_t)snprintf(log_text + used, sizeof log_text - used, "CASE %s %d %lld %lld\n", name, rank, begin, now_ns());
}

/* A call of the host's before which nothing stays under guard; it sends nothing. */
static void complete_releases(void) {
  int none[2] = {0, 0};
  MPI_Alltoallv(word, none, none, MPI_BYTE, word, none, none, MPI_BYTE, MPI_COMM_WORLD);
}

/* What a case has left under guard belongs to it. The barriers keep the cases apart. */
static void run_case(Case* run, char* buffer) {
  const long long begin = now_ns();
  tag++;
  run(buffer);
  complete_releases();
  MPI_Barrier(MPI_COMM_WORLD);
  log_case(begin);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Buffers of many messages are prepared for others to write to, and only such ones of sends can be released. */
static void use_often(char* buffer) {
  for (int i = 0; i < 20; i++) {
    if (rank == 0) {
      MPI_Recv(buffer, large, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      came_from_other++;
    } else {
      MPI_Send(buffer, large, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
      sent_to_other++;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* const buffer = aligned_alloc(4096, large);
  memset(buffer, rank, large);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[2], "send_release") == 0) use_often(buffer);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(cases[i].group, argv[2]) != 0) continue;
    name = cases[i].name;
    run_case(cases[i].run, buffer);
  }
  const long long begin = now_ns();
  name = "never_needed";
  if (strcmp(argv[2], "usual") == 0) never_needed(buffer);
  MPI_Finalize();
  log_case(begin);
  char path[1000];
  snprintf(path, sizeof path, "%s/log.%d", argv[1], rank);
  FILE* const file = fopen(path, "w");
  fwrite(log_text, 1, used, file);
  fclose(file);
  free(buffer);
  return 0;
}
