/* What the cases of events.c have in common: a log of what a trace must tell. One thread of two ranks. */
#pragma once

#include <stdint.h>

enum { late_us = 30000, small = 1024, large = 1 << 20 };

extern int rank, tag;
extern int line, received_at;              /* of the call that is told of, and of the last large receive */
extern const char *told_file, *function;   /* that both are in */
extern int sent_to_other, came_from_other; /* messages so far */
extern char word[8];

/* The call of the next line is told of. */
#define NEXT_LINE (line = __LINE__ + 1, told_file = __FILE_NAME__, function = __func__)
#define WHERE told_file, line, function
#define AT(call) ", \"at\": \"" call " at %s:%d (%s)\""
#define ADDRESS(memory) ((unsigned long long)(uintptr_t)(memory))

void compute(long long us);

/* A record: how often it comes (see events.c), its event, and `, "member": value` for each further member, printed as by printf.
 */
__attribute__((format(printf, 3, 4))) void told(const char* times, const char* event, const char* members, ...);
void told_of_call(const char* call);
/* A receive that was posted, and how its message was found and ended. */
void told_of_receive(const void* buffer, int capacity, const char* how);
void told_of_match(int bytes, const char* how);
void told_of_end(int bytes, const char* outcome);
void told_of_small_send(const void* buffer, int bytes, const char* call);
/* A send that goes by rendezvous: announced, answered, and over. Its memory may be prepared for others to write to. */
void told_of_announcement(const void* buffer);
void told_of_answer(void);
/* Each side says that it is done; the receiver does not where the sender knows anyway. */
void told_of_fins(void);
/* A receive whose call has returned: what is told until then, how its message came, and how it ended. */
void told_of_release(const char* buffer);
void told_of_transfer(void);
void told_of_clearance(void);
void told_of_coming(void);
void told_of_last_of_release(const char* how);
void told_of_end_of_release(void);
/* A call of the program's waits for it, soon after the release. */
void told_of_end_of_settled_release(void);

/* Rank 0 says that it is about to receive, so that rank 1 is later than that however busy the machine is. */
void say_go(void);
void hear_go(void);
void send_large_late(char* buffer);
void probe_until_there(const char* kind, int bytes);

/* The call that returns early, and what is told until then. */
#define RECEIVE_LARGE(buffer)                                                      \
  do {                                                                             \
    say_go();                                                                      \
    received_at = line = __LINE__, told_file = __FILE_NAME__, function = __func__; \
    MPI_Recv(buffer, large, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  \
    told_of_release(buffer);                                                       \
  } while (0)

/* The cases: on both ranks, with a page-aligned buffer of `large` bytes. */
void eager_expected(char* buffer);
void eager_unexpected(char* buffer);
void rendezvous_unexpected(char* buffer);
void synchronous(char* buffer);
void buffered(char* buffer);
void cancelled(char* buffer);
void truncated(char* buffer);
void wildcard(char* buffer);
void untouched(char* buffer);
void touched(char* buffer);
void unpacked(char* buffer);
void something_else_written(char* buffer);
void written(char* buffer);
void memory_given_back(char* buffer);
void counted(char* buffer);
void forked(char* buffer);
void sent_on(char* buffer);
void held(char* buffer);
void acknowledgement_held(char* buffer);
void released_send(char* buffer);
void send_set_aside(char* buffer);
void never_needed(char* buffer);
