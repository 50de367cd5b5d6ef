/* Cases of events.c: messages that are matched, one way or another, and complete in their calls. */
#include <mpi.h>
#include <unistd.h>

#include "events.h"

void eager_expected(char* buffer) {
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
  told("1", "wait", ", \"ended\": \"complete\"" AT("MPI_Recv"), WHERE);
  told_of_call("MPI_Recv");
}

/* A small message that is there before its receive is posted. */
static void receive_unexpected(char* buffer) {
  probe_until_there("eager", small);
  NEXT_LINE;
  MPI_Recv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told_of_receive(buffer, large, "blocking");
  told_of_match(small, "unexpected");
  told_of_end(small, "success");
  told_of_call("MPI_Recv");
}

void eager_unexpected(char* buffer) {
  if (rank == 1) {
    hear_go();
    NEXT_LINE;
    MPI_Send(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    return told_of_small_send(buffer, small, "MPI_Send");
  }
  receive_unexpected(buffer);
}

/* Nobody waits, so nothing is released; nobody has waited before, so neither buffer is one that the other side may write to. */
void rendezvous_unexpected(char* buffer) {
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

void synchronous(char* buffer) {
  if (rank == 1) {
    hear_go();
    NEXT_LINE;
    MPI_Ssend(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    told("1", "post_send", ", \"peer\": 0, \"tag\": %d, \"how\": \"synchronous+blocking\", \"bytes\": %d" AT("MPI_Ssend"), tag,
         small, WHERE);
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

void buffered(char* buffer) {
  static char attached[2 * small];
  if (rank == 1) {
    hear_go();
    MPI_Buffer_attach(attached, sizeof attached);
    NEXT_LINE;
    MPI_Bsend(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    told("1", "post_send", ", \"peer\": 0, \"tag\": %d, \"how\": \"buffered+blocking\", \"bytes\": %d" AT("MPI_Bsend"), tag,
         small, WHERE);
    told_of_end(small, "success");
    told("1", "message_out", ", \"peer\": 0, \"tag\": %d, \"kind\": \"eager\", \"message\": %d", tag, ++sent_to_other);
    told_of_call("MPI_Bsend");
    void* old;
    int bytes;
    NEXT_LINE;
    MPI_Buffer_detach(&old, &bytes);
    return told_of_call("MPI_Buffer_detach");
  }
  receive_unexpected(buffer);
}

void cancelled(char* buffer) {
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

void truncated(char* buffer) {
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

void wildcard(char* buffer) {
  if (rank == 1) {
    hear_go();
    NEXT_LINE;
    MPI_Send(buffer, small, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    return told_of_small_send(buffer, small, "MPI_Send");
  }
  say_go();
  NEXT_LINE;
  MPI_Recv(buffer, large, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  told("1", "post_receive", ", \"peer\": -1, \"tag\": -1, \"how\": \"blocking\", \"capacity\": %d" AT("MPI_Recv"), large, WHERE);
  told("+", "not_released", ", \"why\": \"wildcard receive, message not known yet\"");
  told_of_match(small, "");
  told_of_end(small, "success");
  told("1", "wait", ", \"ended\": \"complete\"");
  told_of_call("MPI_Recv");
}
