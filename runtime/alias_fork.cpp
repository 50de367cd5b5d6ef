#include "runtime/alias_fork.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "runtime/alias_copy_out.hpp"
#include "runtime/fatal.hpp"

namespace sluice {

void AliasFork::prepare() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fatal("fork: no pipe to wait for the child's copy of received data (errno %d)", errno);
  done_reading_ = Descriptor(ends[0]);
  done_writing_ = Descriptor(ends[1]);
}

void AliasFork::wait_for_child() {
  if (!done_reading_) return;
  done_writing_.reset();
  char done = 0;
  while (read(done_reading_.get(), &done, 1) < 0 && errno == EINTR) {
  }
  done_reading_.reset();
}

void AliasFork::copy_everything(const AliasFile& file, ProcessMaps& maps) {
  maps.reopen();
  done_reading_.reset();
  ProcessMapping mapping;
  for (std::uintptr_t address = 0; maps.find(address, mapping); address = mapping.bytes.end) {
    if (!file.backs(mapping)) continue;  // windows are not inherited
    const int wanted = mapping.readable ? PROT_READ | (mapping.writable ? PROT_WRITE : 0) : PROT_READ | PROT_WRITE;
    if (!copy_out(file.descriptor(), mapping.file_offset, mapping.bytes, wanted))
      fatal("fork: no memory for the child's copy of received data (errno %d)", errno);
  }
  const char done = 1;
  while (done_writing_ && write(done_writing_.get(), &done, 1) < 0 && errno == EINTR) {
  }
  done_writing_.reset();
}

}  // namespace sluice
