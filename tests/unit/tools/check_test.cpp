// `sluice check` finds what is wrong: each test stages one defect, as it would be on a user's machine.
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "tests/unit/tools/shell.hpp"

namespace sluice {
namespace {

struct Found {
  std::string state;
  std::string found;
  std::string advice;
};

std::ostream& operator<<(std::ostream& stream, const Found& finding) {
  return stream << finding.state << ": " << finding.found << " -> " << finding.advice;
}

/// What the check of that name says when a line of shell runs it; $check is the command.
Found check(const std::string& name, const std::string& line = "$check") {
  const Result result =
      shell("check=\"$sluice check --json\"; refuse='" SLUICE_REFUSE "'; stand_ins='" SLUICE_STAND_INS "'; " + line);
  const auto begin = result.output.find('{');
  const auto report = nlohmann::json::parse(begin == std::string::npos ? "" : result.output.substr(begin), nullptr, false);
  if (report.is_discarded()) return {"no report", result.output, ""};
  for (const auto& entry : report["checks"]) {
    if (entry["name"] != name) continue;
    EXPECT_EQ(result.status, report["problems"] == 0 ? 0 : 1);
    EXPECT_EQ(entry["advice"].get<std::string>().empty(), entry["state"] == "good" || entry["state"] == "ok") << entry;
    return {entry["state"], entry["found"], entry["advice"]};
  }
  return {"no such check", result.output, ""};
}

/// The command line under which one system call fails, as under a container's filter.
std::string refusing(long call, int error, const std::string& argument = "") {
  return "$refuse " + std::to_string(call) + " " + std::to_string(error) + " " + argument + " $check";
}

/// A defect that needs the kernel to show another file in /proc to one process.
std::string showing(const std::string& content, const std::string& file) {
  return "unshare --mount sh -c 'f=$(mktemp); echo " + content + " > $f; mount --bind $f " + file +
         " || { rm $f; exit 77; }; rm $f; exec \"$@\"' sh $check";
}

TEST(sluice_check, usual_machine_has_no_problem) {
  const Result result = shell("$sluice check");

  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "\n0 problems, ")) << result.output;
  EXPECT_FALSE(contains(result.output, "\033")) << "coloured, but to no terminal";
}

TEST(sluice_check, library_that_is_missing_is_found) {
  const Found finding = check("library", "d=$(mktemp -d); cp $sluice $d/; $d/sluice check --json; s=$?; rm -r $d; exit $s");

  EXPECT_EQ(finding.state, "problem") << finding;
}

TEST(sluice_check, tool_behind_the_library_is_found) {
  const Found finding =
      check("preload order", "$sluice run sh -c 'LD_PRELOAD=$LD_PRELOAD:$1 $2 check --json' sh $stand_ins/libtool.so $sluice");

  EXPECT_EQ(finding.state, "problem") << finding;
  EXPECT_TRUE(contains(finding.advice, "libtool.so:")) << finding;
}

TEST(sluice_check, tool_in_front_of_the_library_is_right) {
  EXPECT_EQ(check("preload order", "LD_PRELOAD=$stand_ins/libtool.so $sluice run $check").state, "ok");
}

TEST(sluice_check, preloaded_library_that_cannot_be_loaded_is_found) {
  const Found finding = check("preload order", "LD_PRELOAD=/nowhere/libtool.so $check");

  EXPECT_EQ(finding.state, "problem") << finding;
  EXPECT_TRUE(contains(finding.found, "/nowhere/libtool.so")) << finding;
}

TEST(sluice_check, library_of_another_installation_is_found) {
  const Found finding =
      check("preload order",
            "d=$(mktemp -d); cp $(dirname $sluice)/../interpose/libsluice.so $d/; LD_PRELOAD=$d/libsluice.so $check; s=$?; "
            "rm -r $d; exit $s");

  EXPECT_EQ(finding.state, "warning") << finding;
}

TEST(sluice_check, misspelt_variable_is_found) {
  const Found finding = check("variables", "SLUICE_RELAESE=off $check");

  EXPECT_EQ(finding.state, "warning") << finding;
  EXPECT_TRUE(contains(finding.found, "did you mean SLUICE_RELEASE?")) << finding;
}

TEST(sluice_check, bad_value_is_found) { EXPECT_EQ(check("variables", "SLUICE_GUARD=none $check").state, "problem"); }

TEST(sluice_check, untested_version_of_open_mpi_is_told) {
  const Found finding = check("Open MPI", "LD_LIBRARY_PATH=$stand_ins/version $check");

  EXPECT_EQ(finding.state, "warning") << finding;
  EXPECT_TRUE(contains(finding.found, "v3.1.6")) << finding;
  EXPECT_TRUE(contains(finding.found, "4.1, 5.0 and 6.0")) << finding;
}

TEST(sluice_check, launcher_of_another_mpi_is_found) {
  const Found finding =
      check("launcher",
            "d=$(mktemp -d); printf '#!/bin/sh\\necho HYDRA build details:\\n' > $d/mpirun; chmod +x $d/mpirun; "
            "PATH=$d:$PATH $check; s=$?; rm -r $d; exit $s");

  EXPECT_EQ(finding.state, "problem") << finding;
  EXPECT_TRUE(contains(finding.found, "HYDRA")) << finding;
}

TEST(sluice_check, fortran_layer_whose_calls_stay_inside_is_found) {
  const Found finding = check("Fortran", "LD_LIBRARY_PATH=$stand_ins/fortran $check");

  EXPECT_EQ(finding.state, "problem") << finding;
  EXPECT_TRUE(contains(finding.found, "MPI_Init")) << finding;
}

TEST(sluice_check, fortran_layer_of_the_host_is_right) { EXPECT_EQ(check("Fortran").state, "ok"); }

TEST(sluice_check, static_program_is_found) {
  const Found finding = check("program", "$check /bin/busybox");

  EXPECT_EQ(finding.state, "problem") << finding;
  EXPECT_TRUE(contains(finding.found, "statically")) << finding;
}

TEST(sluice_check, program_with_its_user_set_is_found) {
  const Found finding = check("program", "f=$(mktemp); cp /bin/true $f; chmod u+sx $f; $check $f; s=$?; rm $f; exit $s");

  EXPECT_EQ(finding.state, "problem") << finding;
}

TEST(sluice_check, program_of_the_host_is_right) {
  EXPECT_EQ(check("program", "$check $(dirname $sluice)/../apps/pes/pes").state, "ok");
}

TEST(sluice_check, refused_memory_files_are_found) {
  const Found finding = check("memory files", refusing(SYS_memfd_create, EPERM));

  EXPECT_EQ(finding.state, "warning") << finding;
  EXPECT_TRUE(contains(finding.found, "memfd_create")) << finding;
}

TEST(sluice_check, limit_of_file_sizes_is_found) {
  EXPECT_TRUE(contains(check("memory files", "ulimit -f 1000000; $check").found, "ulimit -f"));
}

TEST(sluice_check, refused_cross_memory_attach_is_found) {
  const Found finding = check("cross-memory attach", refusing(SYS_process_vm_readv, EPERM));

  EXPECT_EQ(finding.state, "warning") << finding;
  EXPECT_TRUE(contains(finding.found, "Operation not permitted")) << finding;
}

TEST(sluice_check, refused_userfaultfd_is_found_where_it_is_wanted) {
  const std::string device = " 1 " + std::to_string(USERFAULTFD_IOC_NEW) + " ";
  const std::string line =
      "$refuse " + std::to_string(SYS_ioctl) + " " + std::to_string(ENOTTY) + device + refusing(SYS_userfaultfd, ENOSYS);

  EXPECT_EQ(check("userfaultfd", "SLUICE_GUARD=userfaultfd " + line).state, "warning");
  EXPECT_EQ(check("userfaultfd", line).state, "note");
}

TEST(sluice_check, few_mappings_are_found) {
  if (shell(showing("100", "/proc/sys/vm/max_map_count")).status == 77) GTEST_SKIP() << "files in /proc cannot be covered here";
  const Found finding = check("mappings", showing("100", "/proc/sys/vm/max_map_count"));

  EXPECT_EQ(finding.state, "warning") << finding;
  EXPECT_TRUE(contains(finding.found, "is 100,")) << finding;
}

TEST(sluice_check, few_descriptors_are_found) { EXPECT_EQ(check("descriptors", "ulimit -n 40; $check").state, "warning"); }

TEST(sluice_check, refused_large_pages_are_found) {
  EXPECT_EQ(check("huge pages", refusing(SYS_madvise, EINVAL, "2 25")).state, "note");
}

TEST(sluice_check, huge_pages_everywhere_are_found_unless_they_may_be_replaced) {
  const std::string everywhere = showing("[always] madvise never", "/sys/kernel/mm/transparent_hugepage/enabled");
  if (shell(everywhere).status == 77) GTEST_SKIP() << "files in /sys cannot be covered here";
  const Found finding = check("huge pages", everywhere);
  const Found other = check("huge pages", "export SLUICE_HUGE_PAGES=replace; " + everywhere);

  EXPECT_EQ(finding.state, "note") << finding;
  EXPECT_TRUE(contains(finding.found, "nothing is released early")) << finding;
  EXPECT_FALSE(contains(other.found, "nothing is released early")) << other;
}

TEST(sluice_check, adapter_that_is_not_there_is_found) {
  const Found finding = check("RDMA adapter", "SLUICE_VERBS_DEVICE=nowhere0 $check");

  EXPECT_EQ(finding.state, "problem") << finding;
}

TEST(sluice_check, memory_that_may_not_be_locked_is_found) {
  const std::string unprivileged = "setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock ";
  if (shell(unprivileged + "true").status != 0) GTEST_SKIP() << "no right to give rights up";
  const Found finding = check("locked memory", "ulimit -l 64; SLUICE_TRANSPORTS=shmem,verbs " + unprivileged + "$check");

  EXPECT_EQ(finding.state, "warning") << finding;
  EXPECT_TRUE(contains(finding.found, "64 KB")) << finding;
}

TEST(sluice_check, memory_that_only_a_user_namespace_allows_to_be_locked_is_found) {
  const std::string as_root_of_its_own = "unshare --user --map-root-user ";
  if (shell(as_root_of_its_own + "true").status != 0) GTEST_SKIP() << "no user namespaces";

  EXPECT_EQ(check("locked memory", "ulimit -l 64; SLUICE_TRANSPORTS=shmem,verbs " + as_root_of_its_own + "$check").state,
            "warning");
}

TEST(sluice_check, interface_that_is_not_there_is_found) {
  EXPECT_EQ(check("tcp addresses", "SLUICE_TCP_INTERFACES=nowhere0 $check").state, "problem");
}

}  // namespace
}  // namespace sluice
