// Communicators with the hint sluice_collectives: who carries their calls, which the summary counts.
#include "hostile.h"

enum { calls = 25, most_ranks = 16 };

static int rank, size;

static MPI_Comm hinted(const char* mode) {
  MPI_Comm comm;
  MPI_Info info;
  MPI_Comm_dup(WORLD, &comm);
  MPI_Info_create(&info);
  if (mode) MPI_Info_set(info, "sluice_collectives", mode);
  MPI_Comm_set_info(comm, info);
  MPI_Info_free(&info);
  return comm;
}

static void call_all(MPI_Comm comm, const char* name) {
  int ones[most_ranks], places[most_ranks], sent[most_ranks], got[most_ranks], wrong = 0;
  for (int i = 0; i < size; i++) ones[i] = 1, places[i] = i;
  for (int call = 0; call < calls; call++) {
    int sum = 0;
    const int own = rank + call;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong += sum != size * call + size * (size - 1) / 2;
    for (int i = 0; i < size; i++) sent[i] = 100 * rank + i + call;
    MPI_Request request;
    MPI_Ialltoallv(sent, ones, places, MPI_INT, got, ones, places, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++) wrong += got[i] != 100 * i + rank + call;
  }
  if (wrong) printf("CASE %s %d: %d wrong\n", name, rank, wrong);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  call_all(hinted("off"), "off");
  call_all(hinted("auto"), "auto");
  call_all(hinted("all"), "all");
  call_all(hinted("sometimes"), "not known");
  call_all(hinted(rank == 0 ? NULL : "all"), "asked by some");
  call_all(hinted(rank == 0 ? "off" : "all"), "asked differently");
  MPI_Comm again = hinted("off");
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "sluice_collectives", "all");
  MPI_Comm_set_info(again, info);
  MPI_Info_free(&info);
  call_all(again, "changed");
  MPI_Finalize();
  return 0;
}
