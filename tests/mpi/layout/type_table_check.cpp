// Threads that make, use and free datatypes all the time, so that the host gives the same handles to different types, while
// others look up types that stay. Every look-up must find the type that the handle names now.
//
// Usage: type_table_check [rounds], one process.
#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "interpose/mpi/datatypes.hpp"

namespace {

constexpr int churning_threads = 3;
constexpr int reading_threads = 2;

void require(bool condition, const char* complaint) {
  if (condition) return;
  std::printf("type_table_check: %s\n", complaint);
  std::exit(1);
}

/// Types whose size and extent tell them apart from all that other rounds and threads make.
void churn(int thread, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    std::array<MPI_Datatype, 4> types{};
    for (std::size_t i = 0; i < types.size(); ++i) {
      const int number = 1 + thread + churning_threads * (round % 500 * 4 + static_cast<int>(i));
      PMPI_Type_create_hvector(number, 1, 3, MPI_CHAR, &types[i]);
      PMPI_Type_commit(&types[i]);
      const sluice::FlatType* flat = sluice::flat_type(types[i]);
      require(flat && flat->size == static_cast<std::size_t>(number), "a new type was taken for an old one");
      require(flat->layout->extent() == 3 * (number - 1) + 1, "the layout belongs to another type");
    }
    for (MPI_Datatype& type : types) {
      const sluice::TypeFree free(type);
      PMPI_Type_free(&type);
    }
  }
}

void look_up(const std::vector<MPI_Datatype>& lasting, const std::atomic<bool>& done) {
  do {
    for (std::size_t i = 0; i < lasting.size(); ++i) {
      const sluice::FlatType* flat = sluice::flat_type(lasting[i]);
      require(flat && flat->simple && flat->size == 4 * (i + 1), "a lasting type was lost");
    }
    require(sluice::flat_type(MPI_DOUBLE)->size == sizeof(double), "a predefined type was lost");
    require(!sluice::flat_type(MPI_DATATYPE_NULL), "the null type was found");
  } while (!done.load());
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  PMPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  require(provided == MPI_THREAD_MULTIPLE, "the host has no threads");
  sluice::open_datatypes();
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
  std::vector<MPI_Datatype> lasting(300);
  for (std::size_t i = 0; i < lasting.size(); ++i) {
    PMPI_Type_contiguous(static_cast<int>(i) + 1, MPI_INT, &lasting[i]);
    PMPI_Type_commit(&lasting[i]);
  }
  std::atomic<bool> done{false};
  std::vector<std::thread> readers, churners;
  for (int i = 0; i < reading_threads; ++i) readers.emplace_back(look_up, std::cref(lasting), std::cref(done));
  for (int i = 0; i < churning_threads; ++i) churners.emplace_back(churn, i, rounds);
  for (std::thread& thread : churners) thread.join();
  done.store(true);
  for (std::thread& thread : readers) thread.join();
  for (MPI_Datatype& type : lasting) {
    const sluice::TypeFree free(type);
    PMPI_Type_free(&type);
  }
  sluice::close_datatypes();
  PMPI_Finalize();
  std::puts("type_table_check: done");
}
