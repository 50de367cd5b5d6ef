// Initialisation with each thread level (argument: 0 to 3, or none for MPI_Init), and what the inquiry calls say.
#include "late.h"

static int wanted = -1;

static void level_and_inquiries(void) {
  int level = -1, flag = 0;
  MPI_Query_thread(&level);
  note("%d", level);
  if (wanted >= 0) EXPECT(level >= wanted, "level %d is lower than %d", level, wanted);
  MPI_Initialized(&flag);
  EXPECT_EQ(flag, 1);
  MPI_Finalized(&flag);
  EXPECT_EQ(flag, 0);
  MPI_Is_thread_main(&flag);
  EXPECT_EQ(flag, 1);
}

static void messages_small_and_large(void) {
  char* buffer = allocate(large);
  for (unsigned i = 0; i < 3; i++) {
    if (late_message(buffer, large, i)) expect_filled(buffer, large, i);
    if (late_message(buffer, 10, i)) expect_filled(buffer, 10, i);
  }
  free(buffer);
}

static const Case cases[] = {CASE(level_and_inquiries, 1), CASE(messages_small_and_large, 2)};

int main(int argc, char** argv) {
  int flag = -1, provided;
  MPI_Initialized(&flag);
  EXPECT_EQ(flag, 0);
  if (argc > 1) {
    wanted = atoi(argv[1]);
    MPI_Init_thread(NULL, NULL, wanted, &provided);
    EXPECT(provided >= wanted, "level %d is lower than %d", provided, wanted);
  } else {
    MPI_Init(NULL, NULL);
  }
  run_cases(cases, 2, 1, argv);
  const int failed = verdict();
  MPI_Finalize();
  MPI_Finalized(&flag);
  if (!flag) fprintf(stderr, "FAIL MPI_Finalized says no after MPI_Finalize\n");
  return failed || !flag;
}
