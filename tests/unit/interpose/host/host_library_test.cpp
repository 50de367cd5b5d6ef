#include "interpose/host/host_library.hpp"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(HostLibrary, tells_the_soname_of_a_loaded_object) {
  Dl_info info{};
  void* map = nullptr;
  ASSERT_NE(dladdr1(reinterpret_cast<void*>(&gnu_get_libc_version), &info, &map, RTLD_DL_LINKMAP), 0);
  EXPECT_EQ(soname_of(*static_cast<const link_map*>(map)), "libc.so.6");
}

TEST(HostLibrary, tells_the_file_of_an_object_without_soname) {
  char path[] = "/opt/mpi/libother.so";
  link_map map{};
  map.l_name = path;
  EXPECT_EQ(soname_of(map), "libother.so");
}

TEST(HostLibrary, is_not_found_in_a_process_without_mpi) {
  EXPECT_FALSE(HostLibrary::get().found());
  EXPECT_FALSE(HostLibrary::get().is_known());
  EXPECT_EQ(HostLibrary::get().function("PMPI_Send"), nullptr);
}

}  // namespace
}  // namespace sluice
