// Sockets and queues: buffers that were received from MPI a moment ago are sent on, or received into.
#include <mqueue.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "hostile.h"

extern ssize_t __recv_chk(int, void*, size_t, size_t, int);
extern ssize_t __recvfrom_chk(int, void*, size_t, size_t, int, struct sockaddr*, socklen_t*);

enum { part = 20000 };  // fits a socket's buffer

static char* buffer;
static int ends[2];
static char other[part];
static struct iovec vector;
static struct msghdr message;
static struct mmsghdr messages[2];

static void open_ends(int type) {
  EXPECT_EQ(socketpair(AF_UNIX, type, 0, ends), 0);
  vector = (struct iovec){buffer, part};
  message = (struct msghdr){.msg_iov = &vector, .msg_iovlen = 1};
  messages[0] = (struct mmsghdr){.msg_hdr = message};
}

#define SENDS(name, type, call, result)                         \
  static void name(void) {                                      \
    buffer = map(large);                                        \
    for (unsigned i = 1; i <= 2; i++) {                         \
      if (!late(buffer, large, i)) continue;                    \
      open_ends(type);                                          \
      EXPECT_CALL(call, result);                                \
      EXPECT_EQ(recv(ends[1], other, part, MSG_WAITALL), part); \
      expect_filled(other, part, i);                            \
      close(ends[0]);                                           \
      close(ends[1]);                                           \
    }                                                           \
    munmap(buffer, large);                                      \
  }

#define RECEIVES(name, type, call, result)            \
  static void name(void) {                            \
    buffer = map(large);                              \
    for (unsigned i = 1; i <= 2; i++) {               \
      if (!late(buffer, large, i)) continue;          \
      open_ends(type);                                \
      fill(other, part, 60 + i);                      \
      EXPECT_EQ(send(ends[1], other, part, 0), part); \
      EXPECT_CALL(call, result);                      \
      expect_filled(buffer, part, 60 + i);            \
      expect_part_filled(buffer, part, large, i);     \
      close(ends[0]);                                 \
      close(ends[1]);                                 \
    }                                                 \
    munmap(buffer, large);                            \
  }

SENDS(by_send, SOCK_STREAM, send(ends[0], buffer, part, 0), part)
SENDS(by_sendto, SOCK_DGRAM, sendto(ends[0], buffer, part, 0, NULL, 0), part)
SENDS(by_sendmsg, SOCK_STREAM, sendmsg(ends[0], &message, 0), part)
SENDS(by_sendmmsg, SOCK_DGRAM, sendmmsg(ends[0], messages, 1, 0), 1)
RECEIVES(by_recv, SOCK_STREAM, recv(ends[0], buffer, part, MSG_WAITALL), part)
RECEIVES(by_recvfrom, SOCK_DGRAM, recvfrom(ends[0], buffer, part, 0, NULL, NULL), part)
RECEIVES(by_recvmsg, SOCK_DGRAM, recvmsg(ends[0], &message, 0), part)
RECEIVES(by_recvmmsg, SOCK_DGRAM, recvmmsg(ends[0], messages, 1, 0, NULL), 1)
RECEIVES(by_checked_recv, SOCK_STREAM, __recv_chk(ends[0], buffer, part, part, MSG_WAITALL), part)
RECEIVES(by_checked_recvfrom, SOCK_DGRAM, __recvfrom_chk(ends[0], buffer, part, part, 0, NULL, NULL), part)

static void addresses_beside_a_buffer(void) {
  Neighbours n = map_neighbours();
  struct sockaddr_un* address = (struct sockaddr_un*)n.before;
  socklen_t* bytes = (socklen_t*)(n.before + sizeof *address);
  address->sun_family = AF_UNIX;
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (late(n.buffer, large, 3)) {
    EXPECT_CALL(bind(listener, (struct sockaddr*)address, sizeof(sa_family_t)), 0);  // to a name that the kernel makes up
  }
  if (late(n.buffer, large, 4)) {
    *(volatile char*)n.after = 1;  // everything is there
    *bytes = sizeof *address;
  }
  if (late(n.buffer, large, 5)) {
    EXPECT_CALL(getsockname(listener, (struct sockaddr*)address, bytes), 0);
    EXPECT(*bytes > sizeof(sa_family_t), "no name");
    expect_filled(n.buffer, large, 5);
  }
  close(listener);
  unmap_neighbours(n);
}

static void message_queues(void) {
  buffer = map(large);
  long* typed = (long*)buffer;
  const int queue = msgget(IPC_PRIVATE, 0600);
  if (queue >= 0 && late(buffer, large, 3)) {
    struct {
      long type;
      char text[4000];
    } sent = {1, "text"};
    EXPECT_CALL(msgsnd(queue, &sent, sizeof sent.text, 0), 0);
    EXPECT_CALL(msgrcv(queue, typed, sizeof sent.text, 0, 0), sizeof sent.text);
    EXPECT_EQ(memcmp(typed, &sent, sizeof sent), 0);
  }
  if (queue >= 0) msgctl(queue, IPC_RMID, NULL);
  munmap(buffer, large);
}

static const Case cases[] = {CASE(by_send, 2),
                             CASE(by_sendto, 2),
                             CASE(by_sendmsg, 2),
                             CASE(by_sendmmsg, 2),
                             CASE(by_recv, 2),
                             CASE(by_recvfrom, 2),
                             CASE(by_recvmsg, 2),
                             CASE(by_recvmmsg, 2),
                             CASE(by_checked_recv, 2),
                             CASE(by_checked_recvfrom, 2),
                             CASE(addresses_beside_a_buffer, 2),
                             CASE(message_queues, 2)};
SUITE(cases)
