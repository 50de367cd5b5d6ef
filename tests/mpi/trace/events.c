/* events DIRECTORY: two ranks do, case by case, what each kind of record is about, and log in DIRECTORY/log.RANK what a trace
 * must tell of it, event for event: CASE name rank begin end               in nanoseconds of CLOCK_MONOTONIC TOLD name rank times
 * {"event": ...}    a record, with those of its members that the program knows; times: 1, or + for one or more,
 *                                          * for any number, ? for none or one, ~ for one that may also come later
 * The log is written at the end, since output would complete what was released. */
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { late_us = 30000, small = 1024, large = 1 << 20, touched_at = 700000 };

static int rank, tag;
static int line, received_at; /* of the call that is told of, and of the last large receive; both in */
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
/* One that goes by rendezvous: announced, answered, and over. Its memory may be prepared for others to write to. */
static void told_of_announcement(const void* buffer) {
  told("?", "migrate", ", \"result\": \"none\"");
  told("1", "post_send",
       ", \"peer\": 0, \"tag\": %d, \"how\": \"blocking\", \"bytes\": %d, \"address\": \"0x%llx\"" AT("MPI_Send"), tag, large,
       ADDRESS(buffer), line, function);
  told("1", "message_out", ", \"peer\": 0, \"tag\": %d, \"kind\": \"rts\", \"message\": %d", tag, ++sent_to_other);
}
/* Each side says that it is done; the receiver does not where the sender knows anyway. */
static void told_of_fins(void) { told("*", "message_out|message_in", ", \"peer\": %d, \"kind\": \"fin\"", 1 - rank); }

static void told_of_answer(void) {
  told("1", "message_in", ", \"peer\": 0, \"kind\": \"cts\"");
  told_of_fins();
  told_of_end(large, "success");
  told("?", "wait", ", \"ended\": \"complete\"");
  told_of_call("MPI_Send");
}

/* Rank 0 says that it is about to receive, so that rank 1 is later than that however busy the machine is. */
static char word[8];
static void say_go(void) {
  NEXT_LINE;
  MPI_Send(word, sizeof word, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
  told_of_small_send(word, sizeof word, "MPI_Send");
}
static void hear_go(void) {
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

static void send_large_late(char* buffer) {
  hear_go();
  NEXT_LINE;
  MPI_Send(buffer, large, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  told_of_announcement(buffer);
  told_of_answer();
}

/* A receive whose call has returned: what is told until then. */
static void told_of_release(const char* buffer) {
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
static void told_of_transfer(void) {
  told("1", "message_out", ", \"peer\": 1, \"tag\": %d, \"kind\": \"cts\"", tag);
  told("1", "protocol", ", \"peer\": 1, \"protocol\": \"coop\", \"why\": \"both sides can copy\", \"missing\": %d", large);
  told_of_fins();
}
static void told_of_coming(void) {
  told_of_match(large, "rendezvous+released");
  told_of_transfer();
}
static void told_of_last_of_release(const char* how) {
  told("1", "release_end", ", \"how\": \"%s\"" AT("MPI_Recv"), how, received_at, function);
  told_of_end(large, "success");
}
static void told_of_end_of_release(void) {
  told("+", "open", "");
  told_of_last_of_release("");
}
/* The call that returns early, and what is told until then. */
#define RECEIVE_LARGE(buffer)                                                     \
  do {                                                                            \
    say_go();                                                                     \
    received_at = line = __LINE__, function = __func__;                           \
    MPI_Recv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); \
    told_of_release(buffer);                                                      \
  } while (0)

static void probe_until_there(const char* kind, int bytes) {
  say_go();
  for (int there = 0; !there;) MPI_Iprobe(1, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  told("1", "arrive", ", \"peer\": 1, \"tag\": %d, \"kind\": \"%s\", \"bytes\": %d, \"message\": %d", tag, kind, bytes,
       came_from_other + 1);
}

static void eager_expected(char* buffer) {
  if (rank == 1) {
    hear_go();
    NEXT_LINE;
    MPI_Send(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    return told_of_small_send(buffer, small, "MPI_Send");
  }
  say_go();
  NEXT_LINE;
  MPI_Recv(buffer, small, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told_of_receive(buffer, small, "blocking");
  told_of_match(small, "");
  told_of_end(small, "success");
  told("1", "wait", ", \"ended\": \"complete\"" AT("MPI_Recv"), line, function);
  told_of_call("MPI_Recv");
}

static void eager_unexpected(char* buffer) {
  if (rank == 1) {
    hear_go();
    NEXT_LINE;
    MPI_Send(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    return told_of_small_send(buffer, small, "MPI_Send");
  }
  probe_until_there("eager", small);
  NEXT_LINE;
  MPI_Recv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told_of_receive(buffer, large, "blocking");
  told_of_match(small, "unexpected");
  told_of_end(small, "success");
  told_of_call("MPI_Recv");
}

/* Nobody waits, so nothing is released; nobody has waited before, so neither buffer is one that the other side may write to. */
static void rendezvous_unexpected(char* buffer) {
  MPI_Request request;
  if (rank == 1) {
    hear_go();
    NEXT_LINE;
    MPI_Send(buffer, large, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    told_of_announcement(buffer);
    told("1", "message_in", ", \"peer\": 0, \"kind\": \"fin\"");
    told_of_end(large, "success");
    told("1", "wait", ", \"ended\": \"complete\"");
    return told_of_call("MPI_Send");
  }
  probe_until_there("rts", large);
  NEXT_LINE;
  MPI_Irecv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
  for (int there = 0; !there;) MPI_Test(&request, &there, MPI_STATUS_IGNORE);
  told_of_receive(buffer, large, "");
  told_of_match(large, "rendezvous+unexpected");
  told("1", "protocol", ", \"peer\": 1, \"protocol\": \"rget\", \"why\": \"only way\", \"missing\": %d", large);
  told("1", "message_out", ", \"peer\": 1, \"kind\": \"fin\"");
  told_of_end(large, "success");
}

static void synchronous(char* buffer) {
  if (rank == 1) {
    hear_go();
    NEXT_LINE;
    MPI_Ssend(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    told("1", "post_send", ", \"peer\": 0, \"tag\": %d, \"how\": \"synchronous+blocking\", \"bytes\": %d" AT("MPI_Ssend"), tag,
         small, line, function);
    told("1", "message_out", ", \"peer\": 0, \"tag\": %d, \"kind\": \"eager\", \"message\": %d", tag, ++sent_to_other);
    told("1", "message_in", ", \"peer\": 0, \"kind\": \"ack\"");
    told_of_end(small, "success");
    told("1", "wait", ", \"ended\": \"complete\"");
    return told_of_call("MPI_Ssend");
  }
  probe_until_there("eager", small);
  usleep(late_us);
  NEXT_LINE;
  MPI_Recv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told_of_receive(buffer, large, "blocking");
  told_of_match(small, "unexpected");
  told("1", "message_out", ", \"peer\": 1, \"kind\": \"ack\"");
  told_of_end(small, "success");
  told_of_call("MPI_Recv");
}

static void buffered(char* buffer) {
  static char attached[2 * small];
  if (rank == 1) {
    hear_go();
    MPI_Buffer_attach(attached, sizeof attached);
    NEXT_LINE;
    MPI_Bsend(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    told("1", "post_send", ", \"peer\": 0, \"tag\": %d, \"how\": \"buffered+blocking\", \"bytes\": %d" AT("MPI_Bsend"), tag,
         small, line, function);
    told_of_end(small, "success");
    told("1", "message_out", ", \"peer\": 0, \"tag\": %d, \"kind\": \"eager\", \"message\": %d", tag, ++sent_to_other);
    told_of_call("MPI_Bsend");
    void* old;
    int bytes;
    NEXT_LINE;
    MPI_Buffer_detach(&old, &bytes);
    return told_of_call("MPI_Buffer_detach");
  }
  probe_until_there("eager", small);
  NEXT_LINE;
  MPI_Recv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told_of_receive(buffer, large, "blocking");
  told_of_match(small, "unexpected");
  told_of_end(small, "success");
  told_of_call("MPI_Recv");
}

static void cancelled(char* buffer) {
  MPI_Request request;
  MPI_Datatype gaps;
  if (rank == 1) return;
  MPI_Type_vector(10, small / 2, small, MPI_BYTE, &gaps);
  MPI_Type_commit(&gaps);
  MPI_Irecv(buffer, 1, gaps, 1, tag, MPI_COMM_WORLD, &request);
  told_of_receive(buffer, 10 * small / 2, "gaps");
  MPI_Cancel(&request);
  NEXT_LINE;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  told("1", "complete", ", \"tag\": %d, \"outcome\": \"cancelled\"", tag);
  told_of_call("MPI_Wait");
  MPI_Type_free(&gaps);
}

static void truncated(char* buffer) {
  if (rank == 1) {
    hear_go();
    NEXT_LINE;
    MPI_Send(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    return told_of_small_send(buffer, small, "MPI_Send");
  }
  probe_until_there("eager", small);
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
    hear_go();
    NEXT_LINE;
    MPI_Send(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    return told_of_small_send(buffer, small, "MPI_Send");
  }
  say_go();
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
  told_of_end_of_release();
}

static void touched(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  NEXT_LINE;
  sink = buffer[touched_at];
  told_of_coming();
  told("+", "open|message_out|message_in", "");       /* whoever waits has pages opened while the rest is on its way */
  told_of_last_of_release("touched|touched+at once"); /* as fast as the processor comes to it */
  told("1", "fault", ", \"access\": \"read\", \"address\": \"0x%llx\", \"at\": \"events.c:%d (%s)\"",
       ADDRESS(buffer + touched_at), line, function);
}

/* What was released is needed by a call. */
static void told_of_settling(const char* times, const char* buffer, const char* cause, const char* call) {
  told(times, "settle", ", \"cause\": \"%s\", \"bytes\": %d, \"address\": \"0x%llx\", \"at\": \"%s at events.c:%d (%s)\"", cause,
       large, ADDRESS(buffer), call, line, function);
}

static void unpacked(char* buffer) {
  static char target[large];
  int position = 0;
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  NEXT_LINE;
  MPI_Unpack(buffer, large, &position, target, large, MPI_BYTE, MPI_COMM_WORLD);
  told_of_coming();
  told_of_end_of_release();
  told_of_settling("1", buffer, "host call", "MPI_Unpack");
  told("1", "call", ", \"by\": \"host\"" AT("MPI_Unpack"), line, function);
}

/* Output may be a message to others: it waits until the released receive's message is known, and no longer. */
static void something_else_written(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  NEXT_LINE;
  if (write(STDERR_FILENO, word, 0) != 0) abort();
  told_of_match(large, "rendezvous+released");
  told("1", "message_out", ", \"peer\": 1, \"tag\": %d, \"kind\": \"cts\"", tag);
  told("1", "protocol", ", \"peer\": 1, \"protocol\": \"coop\"");
  told_of_settling("~", buffer, "output", "write");
  told_of_fins();
  told_of_end_of_release();
}

static void written(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  const struct iovec piece = {buffer, large};
  NEXT_LINE;
  if (writev(-1, &piece, 1) != -1) abort();
  told_of_match(large, "rendezvous+released");
  told("1", "message_out", ", \"peer\": 1, \"tag\": %d, \"kind\": \"cts\"", tag);
  told("1", "protocol", ", \"peer\": 1, \"protocol\": \"coop\"");
  told_of_settling("~", buffer, "output", "writev");
  told_of_fins();
  told_of_end_of_release();
  told_of_settling("?", buffer, "operation", "writev");
}

static void memory_given_back(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  mprotect(buffer, large, PROT_READ | PROT_WRITE);
  told_of_coming();
  told_of_end_of_release();
  told("1", "settle", ", \"cause\": \"allocator\", \"bytes\": %d, \"address\": \"0x%llx\"", large, ADDRESS(buffer));
}

static void counted(char* buffer) {
  MPI_Status status;
  int count;
  if (rank == 1) return send_large_late(buffer);
  say_go();
  NEXT_LINE;
  MPI_Recv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &status);
  received_at = line;
  told_of_release(buffer);
  NEXT_LINE;
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (count != large) abort();
  told_of_match(large, "rendezvous+released");
  told("1", "message_out", ", \"peer\": 1, \"tag\": %d, \"kind\": \"cts\"", tag);
  told("1", "protocol", ", \"peer\": 1, \"protocol\": \"coop\"");
  told_of_settling("~", buffer, "count", "MPI_Get_count");
  told_of_fins();
  told_of_end_of_release();
}

static void forked(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  told_of_coming();
  told_of_end_of_release();
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
  told_of_end_of_release();
  told_of_settling("1", buffer, "operation", "MPI_Send");
  told_of_small_send(buffer, small, "MPI_Send");
}

static void held(char* buffer) {
  if (rank == 1) {
    hear_go();
    NEXT_LINE;
    MPI_Send(buffer, large, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    told_of_announcement(buffer);
    told("1", "arrive", ", \"peer\": 0, \"tag\": %d, \"kind\": \"eager\", \"bytes\": 8, \"message\": %d", tag,
         came_from_other + 1);
    told_of_answer();
    NEXT_LINE;
    MPI_Recv(word, sizeof word, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    told_of_receive(word, sizeof word, "blocking");
    told_of_match(sizeof word, "unexpected");
    told_of_end(sizeof word, "success");
    return told_of_call("MPI_Recv");
  }
  RECEIVE_LARGE(buffer);
  NEXT_LINE;
  MPI_Send(word, sizeof word, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
  told("1", "post_send", ", \"peer\": 1, \"tag\": %d, \"bytes\": 8, \"address\": \"0x%llx\"" AT("MPI_Send"), tag, ADDRESS(word),
       line, function);
  told_of_end(sizeof word, "success");
  told("1", "hold", ", \"peer\": 1, \"what\": \"send\"");
  told_of_call("MPI_Send");
  told_of_match(large, "rendezvous+released");
  told("1", "let_go", ", \"peer\": 1, \"what\": \"send\"");
  told("1", "message_out", ", \"peer\": 1, \"kind\": \"eager\", \"message\": %d", ++sent_to_other);
  told_of_transfer();
  told_of_end_of_release();
}

static const struct {
  const char* name;
  void (*run)(char*);
} cases[] = {
    {"eager_expected", eager_expected},
    {"eager_unexpected", eager_unexpected},
    {"rendezvous_unexpected", rendezvous_unexpected},
    {"synchronous", synchronous},
    {"buffered", buffered},
    {"cancelled", cancelled},
    {"truncated", truncated},
    {"wildcard", wildcard},
    {"untouched", untouched},
    {"touched", touched},
    {"unpacked", unpacked},
    {"something_else_written", something_else_written},
    {"written", written},
    {"memory_given_back", memory_given_back},
    {"counted", counted},
    {"forked", forked},
    {"sent_on", sent_on},
    {"held", held},
};

/* The barriers complete what a case has left under guard, and keep the cases apart. */
static void run_case(size_t number, char* buffer) {
  name = cases[number].name;
  tag = (int)number + 1;
  const long long begin = now_ns();
  cases[number].run(buffer);
  MPI_Barrier(MPI_COMM_WORLD);
  used += (size_t)snprintf(log_text + used, sizeof log_text - used, "CASE %s %d %lld %lld\n", name, rank, begin, now_ns());
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* const buffer = aligned_alloc(4096, large);
  memset(buffer, rank, large);
  MPI_Barrier(MPI_COMM_WORLD);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_case(i, buffer);
  char path[1000];
  snprintf(path, sizeof path, "%s/log.%d", argv[1], rank);
  FILE* const file = fopen(path, "w");
  fwrite(log_text, 1, used, file);
  fclose(file);
  MPI_Finalize();
  free(buffer);
  return 0;
}
