#include "interpose/host/step_aside.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(StepAside, names_mpich_by_its_first_line) {
  EXPECT_EQ(version_in("MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7\n"), "MPICH Version: 4.0.2");
  EXPECT_EQ(version_in("MPICH Version:      5.0.2 \n"), "MPICH Version: 5.0.2");
}

TEST(StepAside, names_open_mpi_without_its_package) {
  EXPECT_EQ(version_in("Open MPI v6.0.0, package: Some One's, ident: 6"), "Open MPI v6.0.0");
}

TEST(StepAside, leaves_nothing_of_nothing) { EXPECT_EQ(version_in("\n"), ""); }

}  // namespace
}  // namespace sluice
