/* Cases of events.c: blocking sends that return before their message has left, and what is still under guard at the end. */
#include <mpi.h>
#include <unistd.h>

#include "events.h"

/* The receiver knows of the message and comes later than the sender is willing to wait. It never waits, so it releases nothing.
 */
static void receive_late(char* buffer) {
  MPI_Request request;
  probe_until_there("rts", large);
  usleep(late_us);
  MPI_Irecv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
  for (int there = 0; !there;) MPI_Test(&request, &there, MPI_STATUS_IGNORE);
  told_of_receive(buffer, large, "");
  told_of_match(large, "rendezvous+unexpected");
}

void released_send(char* buffer) {
  if (rank == 0) {
    receive_late(buffer);
    told("1", "message_out", ", \"peer\": 1, \"kind\": \"cts\"");
    told("1", "protocol", ", \"peer\": 1, \"protocol\": \"coop|rput\", \"missing\": %d", large);
    told_of_fins();
    return told_of_end(large, "success");
  }
  hear_go();
  NEXT_LINE;
  MPI_Send(buffer, large, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  compute(2 * late_us); /* without it only the way to the barrier would be hidden, which may be less than the release costs */
  told_of_announcement(buffer);
  told("*", "not_released", ", \"why\": \"rest arrives sooner than a release costs\"");
  told("?", "migrate", ", \"result\": \"none\"");
  told("1", "release", ", \"peer\": 0, \"tag\": %d, \"how\": \"send\", \"bytes\": %d, \"address\": \"0x%llx\", \"pages\": %d",
       tag, large, ADDRESS(buffer), large / 4096);
  told("1", "wait", ", \"ended\": \"released\"" AT("MPI_Send"), WHERE);
  told_of_call("MPI_Send");
  told("1", "message_in", ", \"peer\": 0, \"kind\": \"cts\"");
  told("~", "open", ", \"address\": \"0x%llx\"", ADDRESS(buffer));
  told("*", "open|message_out|message_in", " "); /* each side's part of the copy is opened when it is done */
  told("1", "release_end", ", \"how\": \"send\"" AT("MPI_Send"), WHERE);
  told_of_end(large, "success");
}

void send_set_aside(char* buffer) {
  if (rank == 0) {
    receive_late(buffer);
    told("1", "message_out", ", \"peer\": 1, \"kind\": \"cts\"");
    told("1", "protocol", ", \"peer\": 1, \"protocol\": \"stream\", \"why\": \"only way\"");
    return told_of_end(large, "success");
  }
  hear_go();
  NEXT_LINE;
  MPI_Send(buffer, large, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  told_of_announcement(buffer);
  told("1", "set_aside", ", \"peer\": 0, \"bytes\": %d", large);
  told("1", "wait", ", \"ended\": \"set aside\"" AT("MPI_Send"), WHERE);
  told_of_call("MPI_Send");
  told("1", "message_in", ", \"peer\": 0, \"kind\": \"cts\"");
  told_of_end(large, "success");
}

void never_needed(char* buffer) {
  if (rank == 1) return send_large_late(buffer);
  RECEIVE_LARGE(buffer);
  told_of_coming();
  told_of_end_of_settled_release();
  told("1", "settle", ", \"cause\": \"finalize\", \"bytes\": %d, \"address\": \"0x%llx\"", large, ADDRESS(buffer));
}
