// Children of every kind, made while a message is still on its way into this process's memory.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <wordexp.h>

#include "hostile.h"

extern char** environ;

static void expect_ended_well(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with wait status %x", status);
}

// In a child: 0 when the buffer holds the pattern.
static int differs(const char* buffer, unsigned seed) {
  char* wanted = allocate(large);
  fill(wanted, large, seed);
  return memcmp(buffer, wanted, large) != 0;
}

static void parent_goes_on(void) {
  char* buffer = map(large);
  pid_t children[4] = {0};
  for (unsigned i = 0; i < 4; i++) {
    if (!late(buffer, large, i)) continue;
    children[i] = fork();
    if (children[i] == 0) {
      pause_ms(20);  // the parent receives the next message meanwhile
      _exit(differs(buffer, i));
    }
    expect_filled(buffer, large, i);
  }
  for (unsigned i = 0; i < 4 && children[i]; i++) expect_ended_well(children[i]);
  munmap(buffer, large);
}

static void child_writes(pid_t (*make)(void)) {
  char* buffer = map(large);
  for (unsigned i = 0; i < 3; i++) {
    if (!late(buffer, large, i)) continue;
    const pid_t child = make();
    if (child == 0) {
      if (differs(buffer, i)) _exit(1);
      memset(buffer, 0xdd, large);
      _exit(buffer[large / 2] != (char)0xdd);
    }
    expect_ended_well(child);
    expect_filled(buffer, large, i);
  }
  munmap(buffer, large);
}

static void forked_child_writes(void) { child_writes(fork); }
static void bare_forked_child_writes(void) { child_writes(_Fork); }

static void child_becomes_daemon(void) {
  char* buffer = map(large);
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  if (late(buffer, large, 1)) {
    const pid_t child = fork();
    if (child == 0) {
      if (daemon(1, 1) != 0) _exit(1);
      const char verdict = differs(buffer, 1) ? 'd' : 's';
      _exit(write(ends[1], &verdict, 1) != 1);
    }
    expect_ended_well(child);
    char verdict = 0;
    EXPECT_EQ(read(ends[0], &verdict, 1), 1);
    note("%c", verdict);
    expect_filled(buffer, large, 1);
  }
  close(ends[0]);
  close(ends[1]);
  munmap(buffer, large);
}

// --- what exec is given shares pages with what was received ---

// `sh`, `-c`, a command; and an environment. The texts lie beside the buffer, where only the kernel reads them.
typedef struct {
  char* words[4];
  char* environment[2];
  char* name;
  char* expansion;
} Command;

static Command command_beside(char* beside, const char* command) {
  return (Command){.words = {strcpy(beside, "/bin/sh"), strcpy(beside + 16, "-c"), strcpy(beside + 32, command)},
                   .environment = {strcpy(beside + 400, "SECRET=42")},
                   .name = strcpy(beside + 440, "sh"),
                   .expansion = strcpy(beside + 480, "$(echo 42)")};
}

// `run` runs a command that ends with code 42; once with the command before the buffer, once with it behind.
static void commands(int (*run)(Command*)) {
  Neighbours all = map_neighbours();
  for (unsigned i = 0; i < 4; i++) {
    Command command = command_beside(i % 2 ? all.after : all.before, "exit ${SECRET:-42}");
    if (!late(all.buffer, large, i)) continue;
    const int status = run(&command);
    note("%x", status);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 42, "status %x", status);
    expect_filled(all.buffer, large, i);
  }
  unmap_neighbours(all);
}

static int status_of(pid_t child) {
  int status = -1;
  EXPECT(child > 0, "no child: %s", strerror(errno));
  if (child > 0) waitpid(child, &status, 0);
  return status;
}

static int by_fork(Command* command) {
  const pid_t child = fork();
  if (child == 0) {
    execve(command->words[0], command->words, command->environment);
    _exit(1);
  }
  return status_of(child);
}

static int by_vfork(Command* command) {
  const pid_t child = vfork();
  if (child == 0) {
    execve(command->words[0], command->words, command->environment);
    _exit(errno == EFAULT ? 14 : 1);
  }
  return status_of(child);
}

static int by_vfork_and_list(Command* command) {
  const pid_t child = vfork();
  if (child == 0) {
    execl(command->words[0], command->words[0], command->words[1], command->words[2], (char*)NULL);
    _exit(errno == EFAULT ? 14 : 1);
  }
  return status_of(child);
}

static int by_spawn(Command* command) {
  pid_t child = -1;
  errno = posix_spawn(&child, command->words[0], NULL, NULL, command->words, command->environment);
  return status_of(child);
}

static int by_spawn_in_path(Command* command) {
  pid_t child = -1;
  errno = posix_spawnp(&child, command->name, NULL, NULL, command->words, environ);
  return status_of(child);
}

static int by_system(Command* command) { return system(command->words[2]); }

static int by_popen(Command* command) {
  FILE* pipe = popen(command->words[2], "r");
  return pipe ? pclose(pipe) : -1;
}

static int by_wordexp(Command* command) {
  wordexp_t words;
  const int failed = wordexp(command->expansion, &words, 0);
  const int code = failed ? failed : atoi(words.we_wordv[0]);
  if (!failed) wordfree(&words);
  return code << 8;
}

static void fork_and_exec(void) { commands(by_fork); }
static void vfork_and_exec(void) { commands(by_vfork); }
static void vfork_and_execl(void) { commands(by_vfork_and_list); }
static void spawned(void) { commands(by_spawn); }
static void spawned_by_name(void) { commands(by_spawn_in_path); }
static void by_system_call(void) { commands(by_system); }
static void piped(void) { commands(by_popen); }
static void expanded(void) { commands(by_wordexp); }

// exec that fails because of its path, which the kernel must have been able to read.
static void failing_exec(void) {
  Neighbours all = map_neighbours();
  for (unsigned i = 0; i < 2; i++) {
    Command command = command_beside(i % 2 ? all.after : all.before, "true");
    strcpy(command.words[0], "/no/such/file");
    if (!late(all.buffer, large, i)) continue;
    errno = 0;
    execv(command.words[0], command.words);
    note("%s", strerror(errno));
    EXPECT_EQ(errno, ENOENT);
    expect_filled(all.buffer, large, i);
  }
  unmap_neighbours(all);
}

// --- what a new program inherits of signals ---

static void note_output(const char* command) {
  char line[256] = "";
  FILE* pipe = popen(command, "r");
  while (pipe && fgets(line, sizeof line, pipe)) {
    line[strcspn(line, "\n")] = 0;
    note("%s", line);
  }
  if (pipe) pclose(pipe);
}

static void inherited_signals(void) {
  const char* const show = "cat /proc/self/status | grep -E 'Sig(Blk|Ign)' | tr -d '\\t'";
  char* buffer = map(large);
  sigset_t only, old;
  sigemptyset(&only);
  sigaddset(&only, SIGSEGV);
  if (late(buffer, large, 1)) {
    sigprocmask(SIG_BLOCK, &only, &old);
    note_output(show);
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGSEGV, SIG_IGN);
      execl("/bin/sh", "sh", "-c", "cat /proc/self/status | grep -qE 'SigIgn:.*[4-7c-f]..$'", (char*)NULL);
      _exit(9);
    }
    expect_ended_well(child);
    sigprocmask(SIG_SETMASK, &old, NULL);
    note_output(show);
    expect_filled(buffer, large, 1);
  }
  munmap(buffer, large);
}

static const Case cases[] = {CASE(parent_goes_on, 2),
                             CASE(forked_child_writes, 2),
                             CASE(bare_forked_child_writes, 2),
                             CASE(child_becomes_daemon, 2),
                             CASE(fork_and_exec, 2),
                             CASE(vfork_and_exec, 2),
                             CASE(vfork_and_execl, 2),
                             CASE(spawned, 2),
                             CASE(spawned_by_name, 2),
                             CASE(by_system_call, 2),
                             CASE(piped, 2),
                             CASE(expanded, 2),
                             CASE(failing_exec, 2),
                             CASE(inherited_signals, 2)};
SUITE(cases)
