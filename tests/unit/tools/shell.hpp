// The `sluice` command as a user meets it: a line of shell in, output and exit status out.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

namespace sluice {

struct Result {
  std::string output;  // standard output and error
  int status;
};

struct Close {
  void operator()(std::FILE* pipe) const { ::pclose(pipe); }
};

/// Runs a shell command line in which $sluice is the command. Meson's search path goes: the stand-ins of libraries are on it.
inline Result shell(const std::string& line) {
  const std::string script = "unset LD_PRELOAD LD_LIBRARY_PATH; sluice='" SLUICE_COMMAND "'; exec 2>&1; " + line;
  std::unique_ptr<std::FILE, Close> pipe(::popen(script.c_str(), "r"));
  Result result{"", -1};
  std::array<char, 4096> buffer{};
  while (const std::size_t bytes = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    result.output.append(buffer.data(), bytes);
  const int status = ::pclose(pipe.release());
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace sluice
