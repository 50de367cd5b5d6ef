// Output to another process after a receive: none of it may arrive before the message has been sent.
#include <aio.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "hostile.h"

enum { patience_ms = 40 };

static char text[] = "text\n";
static char* buffer;
static int out;
static FILE* stream;

// Both ranks of a pair have an end of one socket.
static int socket_to_partner(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int leader = rank % 2 == 0 ? (int)getpid() : 0;
  if (rank % 2 == 0) {
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "mpi-hostile-%d-%s", leader, running);
    if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0 || listen(listener, 1) != 0) MPI_Abort(WORLD, 8);
    MPI_Send(&leader, 1, MPI_INT, partner(), 9, WORLD);
    const int accepted = accept(listener, NULL, NULL);
    close(listener);
    return accepted;
  }
  MPI_Recv(&leader, 1, MPI_INT, partner(), 9, WORLD, IGNORE);
  snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "mpi-hostile-%d-%s", leader, running);
  const int connected = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(connected, (struct sockaddr*)&address, sizeof address) != 0) MPI_Abort(WORLD, 8);
  return connected;
}

static void one_round(void (*say)(void), unsigned seed) {
  if (partner() >= size) return;
  out = socket_to_partner();
  if (rank % 2 == 0) {
    char* sent = allocate(large);
    fill(sent, large, seed);
    struct pollfd file = {out, POLLIN, 0};
    EXPECT(poll(&file, 1, patience_ms) == 0, "output arrived before the message was sent");
    MPI_Send(sent, large, MPI_BYTE, partner(), 1, WORLD);
    char got[sizeof text] = {0};
    EXPECT_EQ(recv(out, got, sizeof text - 1, MSG_WAITALL), sizeof text - 1);
    EXPECT_EQ(strcmp(got, text), 0);
    free(sent);
  } else {
    stream = fdopen(dup(out), "w");
    buffer = map(large);
    MPI_Recv(buffer, large, MPI_BYTE, partner(), 1, WORLD, IGNORE);
    say();
    expect_filled(buffer, large, seed);
    munmap(buffer, large);
    if (stream) fclose(stream);
  }
  close(out);
}

#define SAYS(name, ...)                         \
  static void say_##name(void) { __VA_ARGS__; } \
  static void name(void) { one_round(say_##name, __LINE__); }

enum { bytes = sizeof text - 1 };

static struct iovec vector = {text, bytes};

// Standard output goes to the partner for a while.
static void redirected(void (*say)(void)) {
  fflush(stdout);
  const int kept = dup(1);
  dup2(out, 1);
  setvbuf(stdout, NULL, _IOLBF, 0);
  say();
  fflush(stdout);
  dup2(kept, 1);
  close(kept);
}

static void print(void) { printf("%s", text); }
static void print_line(void) { puts("text"); }
static void print_characters(void) {
  for (int i = 0; i < bytes; i++) putchar(text[i]);
}

static void write_later(void) {
  struct aiocb control = {.aio_fildes = out, .aio_buf = text, .aio_nbytes = bytes};
  const struct aiocb* list[] = {&control};
  EXPECT_EQ(aio_write(&control), 0);
  while (aio_error(&control) == EINPROGRESS) aio_suspend(list, 1, NULL);
}

static void send_file(void) {
  const int file = filled_file(0, 0);
  if (write(file, text, bytes) != bytes || lseek(file, 0, SEEK_SET) != 0) MPI_Abort(WORLD, 7);
  EXPECT_EQ(sendfile(out, file, NULL, bytes), bytes);
  close(file);
}

SAYS(by_write, EXPECT_EQ(write(out, text, bytes), bytes))
SAYS(by_writev, EXPECT_EQ(writev(out, &vector, 1), bytes))
SAYS(by_send, EXPECT_EQ(send(out, text, bytes, 0), bytes))
SAYS(by_sendmsg, struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1}; EXPECT_EQ(sendmsg(out, &message, 0), bytes))
SAYS(by_sendfile, send_file())
SAYS(by_aio_write, write_later())
SAYS(by_dprintf, dprintf(out, "%s", text))
SAYS(by_printf, redirected(print))
SAYS(by_puts, redirected(print_line))
SAYS(by_putchar, redirected(print_characters))
SAYS(by_fprintf, fprintf(stream, "%s", text); fflush(stream))
SAYS(by_fputs, fputs(text, stream); fflush(stream))
SAYS(by_unbuffered_fputc, setvbuf(stream, NULL, _IONBF, 0); for (int i = 0; i < bytes; i++) fputc(text[i], stream))
SAYS(by_fclose, fwrite(text, 1, bytes, stream); fclose(stream); stream = NULL)

static const Case cases[] = {CASE(by_write, 2),
                             CASE(by_writev, 2),
                             CASE(by_send, 2),
                             CASE(by_sendmsg, 2),
                             CASE(by_sendfile, 2),
                             CASE(by_aio_write, 2),
                             CASE(by_dprintf, 2),
                             CASE(by_printf, 2),
                             CASE(by_puts, 2),
                             CASE(by_putchar, 2),
                             CASE(by_fprintf, 2),
                             CASE(by_fputs, 2),
                             CASE(by_unbuffered_fputc, 2),
                             CASE(by_fclose, 2)};
SUITE(cases)
