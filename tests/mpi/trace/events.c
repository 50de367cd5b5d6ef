/* Two ranks do, case by case, what each kind of record is about, and log what a trace must tell of it, event for event:
 *   CASE name rank begin end            in nanoseconds of CLOCK_MONOTONIC
 *   TOLD name rank times {"event": …}   a record, with those of its members that the program knows; times: 1, or "+" for one or
 * more,
 *                                       "*" for any number, "?" for none or one
 * The log is printed at the end, since output would complete what was released. */
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { late_us = 30000, small = 1024, large = 1 << 20, touched_at = 700000 };

static int rank, tag, line; /* of the call that is told of, in */
static const char* function;
static int sent_to_other, came_from_other; /* messages so far */
static const char* name;
static char log_text[1 << 18];
static size_t used;
static volatile char sink;

static long long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void compute(long long us) {
  for (long long end = now_ns() + us * 1000; now_ns() < end;) continue;
}

static void told(const char* times, const char* event, const char* members, ...) {
  va_list arguments;
  used += (size_t)snprintf(log_text + used, sizeof log_text - used, "TOLD %s %d %s {\"event\": \"%s\"", name, rank, times, event);
  va_start(arguments, members);
  used += (size_t)vsnprintf(log_text + used, sizeof log_text - used, members, arguments);
  va_end(arguments);
  used += (size_t)snprintf(log_text + used, sizeof log_text - used, "}\n");
}

/* The call of the next line is told of. */
#define NEXT_LINE (line = __LINE__ + 1, function = __func__)
#define AT(call) ", \"at\": \"" call " at events.c:%d (%s)\""
#define ADDRESS(memory) ((unsigned long long)(uintptr_t)(memory))

static void told_of_call(const char* call) {
  told("1", "call", ", \"by\": \"carried\", \"at\": \"%s at events.c:%d (%s)\"", call, line, function);
}

/* A receive that was posted, and how its message was found and ended. */
static void told_of_receive(const void* buffer, int capacity, const char* how) {
  told("1", "post_receive", ", \"peer\": %d, \"tag\": %d, \"how\": \"%s\", \"capacity\": %d, \"address\": \"0x%llx\"", 1 - rank,
       tag, how, capacity, ADDRESS(buffer));
}
static void told_of_match(int bytes, const char* how) {
  told("1", "match", ", \"peer\": %d, \"tag\": %d, \"how\": \"%s\", \"bytes\": %d, \"message\": %d", 1 - rank, tag, how, bytes,
       ++came_from_other);
}
static void told_of_end(int bytes, const char* outcome) {
  told("1", "complete", ", \"peer\": %d, \"tag\": %d, \"bytes\": %d, \"outcome\": \"%s\"", 1 - rank, tag, bytes, outcome);
}
static void told_of_small_send(const void* buffer, int bytes, const char* call) {
  told("1", "post_send",
       ", \"peer\": %d, \"tag\": %d, \"how\": \"at once\", \"bytes\": %d, \"address\": \"0x%llx\", \"message\": %d, \"at\": \"%s "
       "at "
       "events.c:%d (%s)\"",
       1 - rank, tag, bytes, ADDRESS(buffer), ++sent_to_other, call, line, function);
  told_of_call(call);
}
/* One that goes by rendezvous: however it travels, it is announced, answered, and over. */
static void told_of_large_send(const void* buffer, int bytes, const char* how, const char* call) {
  told("1", "post_send",
       ", \"peer\": %d, \"tag\": %d, \"how\": \"%s\", \"bytes\": %d, \"address\": \"0x%llx\", \"at\": \"%s at events.c:%d (%s)\"",
       1 - rank, tag, how, bytes, ADDRESS(buffer), call, line, function);
  told("1", "message_out", ", \"peer\": %d, \"tag\": %d, \"kind\": \"rts\", \"message\": %d", 1 - rank, tag, ++sent_to_other);
  told("+", "message_in", ", \"peer\": %d", 1 - rank);
  told("*", "message_out", ", \"peer\": %d, \"kind\": \"fin\"", 1 - rank);
  told_of_end(bytes, "success");
  told("?", "wait", ", \"ended\": \"complete\"");
}

static void send_large_late(char* buffer) {
  usleep(late_us);
  NEXT_LINE;
  MPI_Send(buffer, large, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  told_of_large_send(buffer, large, "blocking", "MPI_Send");
  told_of_call("MPI_Send");
}

/* A receive whose call has returned: what is told until then. */
static void told_of_release(const char* buffer) {
  told_of_receive(buffer, large, "blocking");
  told("*", "not_released", ", \"why\": \"rest arrives sooner than a release costs\"");
  told("?", "migrate", ", \"result\": \"eligible\"");
  told("1", "release",
       ", \"peer\": 1, \"tag\": %d, \"how\": \"unmatched\", \"bytes\": %d, \"address\": \"0x%llx\", \"pages\": %d", tag, large,
       ADDRESS(buffer), large / 4096);
  told("1", "wait", ", \"ended\": \"released\"");
  told_of_call("MPI_Recv");
}
/* How its message came, when its release was not ended by `how`. */
static void told_of_coming(void) {
  told_of_match(large, "rendezvous+released");
  told("1", "protocol", ", \"peer\": 1, \"protocol\": \"rput\"");
  told("1", "message_out", ", \"peer\": 1, \"kind\": \"cts\"");
}
static void told_of_end_of_release(const char* how) {
  told("+", "open", "");
  told("1", "release_end", ", \"how\": \"%s\"", how);
  told_of_end(large, "success");
}
#define RECEIVE_LARGE(buffer)                                                     \
  do {                                                                            \
    line = __LINE__, function = __func__;                                         \
    MPI_Recv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); \
    told_of_release(buffer);                                                      \
  } while (0)

static void eager_expected(char* buffer) {
  if (rank == 1) {
    usleep(late_us);
    NEXT_LINE;
    MPI_Send(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    return told_of_small_send(buffer, small, "MPI_Send");
  }
  NEXT_LINE;
  MPI_Recv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told_of_receive(buffer, large, "blocking");
  told_of_match(small, "");
  told_of_end(small, "success");
  told("1", "wait", ", \"ended\": \"complete\"");
  told_of_call("MPI_Recv");
}

static void probe_until_there(void) {
  for (int there = 0; !there;) MPI_Iprobe(1, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

static void eager_unexpected(char* buffer) {
  if (rank == 1) {
    NEXT_LINE;
    MPI_Send(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    return told_of_small_send(buffer, small, "MPI_Send");
  }
  probe_until_there();
  told("1", "arrive", ", \"peer\": 1, \"tag\": %d, \"kind\": \"eager\", \"bytes\": %d, \"message\": %d", tag, small,
       came_from_other + 1);
  NEXT_LINE;
  MPI_Recv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told_of_receive(buffer, large, "blocking");
  told_of_match(small, "unexpected");
  told_of_end(small, "success");
  told_of_call("MPI_Recv");
}

static void rendezvous_unexpected(char* buffer) {
  if (rank == 1) {
    NEXT_LINE;
    MPI_Send(buffer, large, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    told_of_large_send(buffer, large, "blocking", "MPI_Send");
    return told_of_call("MPI_Send");
  }
  probe_until_there();
  told("1", "arrive", ", \"peer\": 1, \"tag\": %d, \"kind\": \"rts\", \"bytes\": %d, \"message\": %d", tag, large,
       came_from_other + 1);
  usleep(late_us);
  NEXT_LINE;
  MPI_Recv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told_of_receive(buffer, large, "blocking");
  told_of_match(large, "rendezvous+unexpected");
  told("*", "message_out", ", \"kind\": \"cts\"");
  told("1", "protocol", ", \"peer\": 1");
  told("*", "not_released", "");
  told("*", "message_out", ", \"kind\": \"fin\"");
  told_of_end(large, "success");
  told("?", "wait", ", \"ended\": \"complete\"");
  told_of_call("MPI_Recv");
}

static void synchronous(char* buffer) {
  if (rank == 1) {
    NEXT_LINE;
    MPI_Ssend(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    told("1", "post_send", ", \"peer\": 0, \"tag\": %d, \"how\": \"synchronous+blocking\", \"bytes\": %d" AT("MPI_Ssend"), tag,
         small, line, function);
    told("1", "message_out", ", \"peer\": 0, \"tag\": %d, \"kind\": \"eager\", \"message\": %d", tag, ++sent_to_other);
    told("1", "waiting", "");
    told("1", "message_in", ", \"peer\": 0, \"kind\": \"ack\"");
    told_of_end(small, "success");
    told("1", "wait", ", \"ended\": \"complete\"");
    return told_of_call("MPI_Ssend");
  }
  usleep(late_us);
  probe_until_there();
  told("1", "arrive", ", \"peer\": 1, \"tag\": %d, \"kind\": \"eager\", \"bytes\": %d, \"message\": %d", tag, small,
       came_from_other + 1);
  NEXT_LINE;
  MPI_Recv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told_of_receive(buffer, large, "blocking");
  told_of_match(small, "unexpected");
  told("1", "message_out", ", \"peer\": 1, \"kind\": \"ack\"");
  told_of_end(small, "success");
  told_of_call("MPI_Recv");
}

static void cancelled(char* buffer) {
  MPI_Request request;
  if (rank == 1) return;
  NEXT_LINE;
  MPI_Irecv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
  told_of_receive(buffer, large, "");
  MPI_Cancel(&request);
  NEXT_LINE;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  told("1", "complete", ", \"tag\": %d, \"outcome\": \"cancelled\"", tag);
  told_of_call("MPI_Wait");
}

static void truncated(char* buffer) {
  if (rank == 1) {
    NEXT_LINE;
    MPI_Send(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    return told_of_small_send(buffer, small, "MPI_Send");
  }
  probe_until_there();
  told("1", "arrive", ", \"tag\": %d", tag);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  NEXT_LINE;
  MPI_Recv(buffer, small / 2, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told_of_receive(buffer, small / 2, "blocking");
  told_of_match(small, "unexpected+truncated");
  told_of_end(small / 2, "truncated");
  told_of_call("MPI_Recv");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void wildcard(char* buffer) {
  if (rank == 1) {
    usleep(late_us);
    NEXT_LINE;
    MPI_Send(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    return told_of_small_send(buffer, small, "MPI_Send");
  }
  NEXT_LINE;
  MPI_Recv(buffer, large, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told("1", "post_receive", ", \"peer\": -1, \"tag\": -1, \"how\": \"blocking\", \"capacity\": %d" AT("MPI_Recv"), large, line,
       function);
  told("+", "not_released", ", \"why\": \"wildcard receive, message not known yet\"");
  told_of_match(small, "");
  told_of_end(small, "success");
  told("1", "wait", ", \"ended\": \"complete\"");
  told_of_call("MPI_Recv");
}

static void untouched(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  compute(2 * late_us);
  told_of_coming();
  told_of_end_of_release("");
}

static void touched(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  NEXT_LINE;
  sink = buffer[touched_at];
  told_of_coming();
  told_of_end_of_release("touched");
  told("1", "fault", ", \"access\": \"read\", \"address\": \"0x%llx\", \"at\": \"events.c:%d (%s)\"",
       ADDRESS(buffer + touched_at), line, function);
}

/* What was released is needed by a call. */
static void told_of_settling(const char* buffer, const char* cause, const char* at) {
  told("1", "settle", ", \"cause\": \"%s\", \"bytes\": %d, \"address\": \"0x%llx\", \"at\": \"%s at events.c:%d (%s)\"", cause,
       large, ADDRESS(buffer), at, line, function);
}

static void unpacked(char* buffer) {
  static char target[large];
  int position = 0;
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  NEXT_LINE;
  MPI_Unpack(buffer, large, &position, target, large, MPI_BYTE, MPI_COMM_WORLD);
  told_of_coming();
  told_of_end_of_release("");
  told_of_settling(buffer, "host call", "MPI_Unpack");
}

static void written_to_a_file(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  NEXT_LINE;
  if (write(2, buffer, 0) != 0) abort();
  told_of_match(large, "rendezvous+released");
  told_of_settling(buffer, "output", "write");
  told("1", "protocol", ", \"peer\": 1, \"protocol\": \"rput\"");
  told("1", "message_out", ", \"peer\": 1, \"kind\": \"cts\"");
  compute(late_us);
  told_of_end_of_release("");
}

static void memory_given_back(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  NEXT_LINE;
  mprotect(buffer, large, PROT_READ | PROT_WRITE);
  told_of_coming();
  told_of_end_of_release("");
  told("1", "settle", ", \"cause\": \"allocator\", \"bytes\": %d, \"address\": \"0x%llx\"", large, ADDRESS(buffer));
}

static void counted(char* buffer) {
  MPI_Status status;
  int count;
  if (rank == 1) return send_large_late(buffer);
  NEXT_LINE;
  MPI_Recv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &status);
  told_of_release(buffer);
  NEXT_LINE;
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (count != large) abort();
  told_of_match(large, "rendezvous+released");
  told_of_settling(buffer, "count", "MPI_Get_count");
  told("1", "protocol", ", \"peer\": 1, \"protocol\": \"rput\"");
  told("1", "message_out", ", \"peer\": 1, \"kind\": \"cts\"");
  compute(late_us);
  told_of_end_of_release("");
}

static void forked(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  told_of_coming();
  told_of_end_of_release("");
  told("1", "settle", ", \"cause\": \"fork\", \"bytes\": %d", large);
}

static void sent_on(char* buffer) {
  if (rank == 1) {
    send_large_late(buffer);
    NEXT_LINE;
    MPI_Recv(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    told_of_receive(buffer, small, "blocking");
    told_of_match(small, "");
    told_of_end(small, "success");
    told("?", "wait", ", \"ended\": \"complete\"");
    return told_of_call("MPI_Recv");
  }
  RECEIVE_LARGE(buffer);
  NEXT_LINE;
  MPI_Send(buffer, small, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
  told_of_coming();
  told_of_end_of_release("");
  told_of_settling(buffer, "operation", "MPI_Send");
  told_of_small_send(buffer, small, "MPI_Send");
}

static void held(char* buffer) {
  static char word[8];
  if (rank == 1) {
    send_large_late(buffer);
    NEXT_LINE;
    MPI_Recv(word, sizeof word, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    told_of_receive(word, sizeof word, "blocking");
    told_of_match(sizeof word, "");
    told_of_end(sizeof word, "success");
    told("?", "wait", ", \"ended\": \"complete\"");
    return told_of_call("MPI_Recv");
  }
  RECEIVE_LARGE(buffer);
  NEXT_LINE;
  MPI_Send(word, sizeof word, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
  told("1", "post_send", ", \"peer\": 1, \"tag\": %d, \"bytes\": 8, \"address\": \"0x%llx\"" AT("MPI_Send"), tag, ADDRESS(word),
       line, function);
  told("1", "hold", ", \"peer\": 1, \"what\": \"send\"");
  told_of_call("MPI_Send");
  compute(2 * late_us);
  told_of_match(large, "rendezvous+released");
  told("1", "let_go", ", \"peer\": 1, \"what\": \"send\"");
  told("1", "message_out", ", \"peer\": 1, \"kind\": \"eager\", \"message\": %d", ++sent_to_other);
  told_of_end(sizeof word, "success");
  told("1", "protocol", ", \"peer\": 1, \"protocol\": \"rput\"");
  told("1", "message_out", ", \"peer\": 1, \"kind\": \"cts\"");
  told_of_end_of_release("");
}

static const struct {
  const char* name;
  void (*run)(char*);
} cases[] = {
    {"eager_expected", eager_expected},
    {"eager_unexpected", eager_unexpected},
    {"rendezvous_unexpected", rendezvous_unexpected},
    {"synchronous", synchronous},
    {"cancelled", cancelled},
    {"truncated", truncated},
    {"wildcard", wildcard},
    {"untouched", untouched},
    {"touched", touched},
    {"unpacked", unpacked},
    {"written_to_a_file", written_to_a_file},
    {"memory_given_back", memory_given_back},
    {"counted", counted},
    {"forked", forked},
    {"sent_on", sent_on},
    {"held", held},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* const buffer = aligned_alloc(4096, large);
  memset(buffer, rank, large);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    name = cases[i].name;
    tag = (int)i + 1;
    MPI_Barrier(MPI_COMM_WORLD);
    const long long begin = now_ns();
    cases[i].run(buffer);
    const long long end = now_ns();
    MPI_Barrier(MPI_COMM_WORLD);
    used += (size_t)snprintf(log_text + used, sizeof log_text - used, "CASE %s %d %lld %lld\n", name, rank, begin, end);
  }
  fwrite(log_text, 1, used, stdout);
  MPI_Finalize();
  free(buffer);
  return 0;
}
