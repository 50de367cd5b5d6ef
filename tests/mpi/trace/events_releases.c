/* Cases of events.c: receives that are released, and what ends that. */
#include <mpi.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"

enum { touched_at = 700000 };

static volatile char sink;

void untouched(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  compute(2 * late_us);
  told_of_coming();
  told_of_end_of_release();
}

void touched(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  NEXT_LINE;
  sink = buffer[touched_at];
  told_of_coming();
  told("+", "open|message_out|message_in", " ");      /* whoever waits has pages opened while the rest is on its way */
  told_of_last_of_release("touched|touched+at once"); /* as fast as the processor comes to it */
  told("1", "fault", ", \"access\": \"read\", \"address\": \"0x%llx\", \"at\": \"%s:%d (%s)\"", ADDRESS(buffer + touched_at),
       WHERE);
}

/* What was released is needed by a call. */
static void told_of_settling(const char* times, const char* buffer, const char* cause, const char* call) {
  told(times, "settle", ", \"cause\": \"%s\", \"bytes\": %d, \"address\": \"0x%llx\", \"at\": \"%s at %s:%d (%s)\"", cause, large,
       ADDRESS(buffer), call, WHERE);
}

void unpacked(char* buffer) {
  static char target[large];
  int position = 0;
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  NEXT_LINE;
  MPI_Unpack(buffer, large, &position, target, large, MPI_BYTE, MPI_COMM_WORLD);
  told_of_coming();
  told_of_end_of_settled_release();
  told_of_settling("1", buffer, "host call", "MPI_Unpack");
  told("1", "call", ", \"by\": \"host\"" AT("MPI_Unpack"), WHERE);
}

/* Output may be a message to others: it waits until the released receive's message is known, and no longer. */
void something_else_written(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  NEXT_LINE;
  if (write(STDERR_FILENO, word, 0) != 0) abort();
  told_of_clearance();
  told_of_settling("~", buffer, "output", "write");
  told_of_fins();
  told_of_end_of_settled_release();
}

void written(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  const struct iovec piece = {buffer, large};
  NEXT_LINE;
  if (writev(-1, &piece, 1) != -1) abort();
  told_of_clearance();
  told_of_settling("~", buffer, "output", "writev");
  told_of_fins();
  told_of_end_of_settled_release();
  told_of_settling("?", buffer, "operation", "writev");
}

void memory_given_back(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  mprotect(buffer, large, PROT_READ | PROT_WRITE);
  told_of_coming();
  told_of_end_of_settled_release();
  told("1", "settle", ", \"cause\": \"allocator\", \"bytes\": %d, \"address\": \"0x%llx\"", large, ADDRESS(buffer));
}

void counted(char* buffer) {
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
  told_of_clearance();
  told_of_settling("~", buffer, "count", "MPI_Get_count");
  told_of_fins();
  told_of_end_of_settled_release();
}

void forked(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  told_of_coming();
  told_of_end_of_settled_release();
  told("1", "settle", ", \"cause\": \"fork\", \"bytes\": %d", large);
}

void sent_on(char* buffer) {
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
  told_of_end_of_settled_release();
  told_of_settling("1", buffer, "operation", "MPI_Send");
  told_of_small_send(buffer, small, "MPI_Send");
}

void held(char* buffer) {
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
       WHERE);
  told_of_end(sizeof word, "success");
  told("1", "hold", ", \"peer\": 1, \"what\": \"send\"");
  told_of_call("MPI_Send");
  told_of_match(large, "rendezvous+released");
  told("1", "let_go", ", \"peer\": 1, \"what\": \"send\"");
  told("1", "message_out", ", \"peer\": 1, \"kind\": \"eager\", \"message\": %d", ++sent_to_other);
  told_of_transfer();
  told_of_end_of_settled_release();
}

/* Of the message that is received after the release and sent before the large one; both are under way at once. */
static void send_both(char* buffer) {
  MPI_Request request;
  hear_go();
  tag++;
  NEXT_LINE;
  MPI_Issend(word, sizeof word, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request);
  told("1", "post_send", ", \"peer\": 0, \"tag\": %d, \"how\": \"synchronous\", \"bytes\": 8" AT("MPI_Issend"), tag, WHERE);
  told("1", "message_out", ", \"peer\": 0, \"tag\": %d, \"kind\": \"eager\", \"message\": %d", tag, ++sent_to_other);
  usleep(late_us); /* in which the acknowledgement would come */
  tag--;
  NEXT_LINE;
  MPI_Send(buffer, large, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  told_of_announcement(buffer);
  told("1", "message_in", ", \"peer\": 0, \"kind\": \"ack\"");
  tag++;
  told_of_end(sizeof word, "success");
  tag--;
  told_of_answer();
  NEXT_LINE;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  told_of_call("MPI_Wait");
}

/* That a message was received tells its sender that the receive before it has returned, whose message is not known yet. */
void acknowledgement_held(char* buffer) {
  if (rank == 1) return send_both(buffer);
  RECEIVE_LARGE(buffer);
  tag++;
  NEXT_LINE;
  MPI_Recv(word, sizeof word, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told("?", "arrive", ", \"peer\": 1, \"tag\": %d, \"kind\": \"eager\", \"bytes\": 8", tag);
  told_of_receive(word, sizeof word, "blocking");
  told_of_match(sizeof word, "|unexpected");
  told("1", "hold", ", \"peer\": 1, \"what\": \"acknowledgement\"");
  told_of_end(sizeof word, "success");
  told("?", "wait", ", \"ended\": \"complete\"");
  told_of_call("MPI_Recv");
  tag--;
  told_of_match(large, "rendezvous+released");
  told("1", "let_go", ", \"peer\": 1, \"what\": \"acknowledgement\"");
  told("1", "message_out", ", \"peer\": 1, \"kind\": \"ack\"");
  told_of_transfer();
  told_of_end_of_release();
}
