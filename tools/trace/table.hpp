// What a trace file says once: names, threads, modules, call sites, the configuration and the final counters.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/trace/format.hpp"
#include "runtime/trace/kinds.hpp"

namespace sluice {

/// A member of records of one kind, as the trace itself describes it (trace/kinds.hpp).
struct TracedMember {
  enum class Form { number, word, bits, address };

  std::string field;  // "detail": which member of trace::Record
  std::string name;   // "how": what it is called for this kind
  Form form = Form::number;
  std::string list;  // of words
};

struct TracedKind {
  std::string name;
  std::vector<TracedMember> members;
  std::string meaning;
};

struct TracedThread {
  std::uint32_t system_id = 0;
  trace::ThreadRole role{};
  std::string name;
};

struct TracedModule {
  std::string path;
  std::vector<std::uint8_t> build_id;
};

struct TracedSite {
  std::string function;  // "MPI_Recv", or empty
  std::vector<trace::Frame> frames;
  bool first_is_exact = false;
};

struct TracedCounter {
  std::string name;
  std::uint64_t value = 0;
  std::uint32_t unit = 0;  // as trace::CounterPayload
};

class TraceTable {
 public:
  /// With the kinds and words of this version, which those of the file replace.
  TraceTable();

  /// One whole entry, its parts put together. False when its content does not fit its type.
  bool add(trace::EntryType type, std::uint32_t id, std::span<const char> content);

  [[nodiscard]] const std::map<std::uint32_t, TracedThread>& threads() const { return threads_; }
  [[nodiscard]] const std::map<std::uint32_t, TracedModule>& modules() const { return modules_; }
  [[nodiscard]] const std::map<std::uint32_t, TracedSite>& sites() const { return sites_; }
  [[nodiscard]] const std::map<std::uint32_t, TracedCounter>& counters() const { return counters_; }
  /// "SLUICE_RELEASE=early"
  [[nodiscard]] const std::map<std::uint32_t, std::string>& configuration() const { return configuration_; }

  /// As the file describes it, or as this version knows it where the file does not; nothing for neither.
  [[nodiscard]] const TracedKind* kind(std::uint16_t kind) const;
  /// "kind 57" for one that nothing is known of.
  [[nodiscard]] std::string kind_name(std::uint16_t kind) const;
  [[nodiscard]] const std::map<std::uint32_t, TracedKind>& kinds() const { return kinds_; }
  /// The word for a value of a list; the number where there is none.
  [[nodiscard]] std::string word(const std::string& list, std::uint32_t value) const;
  /// The words of all bits that are set, joined by '+'; empty for none.
  [[nodiscard]] std::string words_of_bits(const std::string& list, std::uint32_t bits) const;
  /// How this rank reaches that one: "shmem"; empty where the file does not tell.
  [[nodiscard]] std::string transporter(std::int32_t peer) const;

 private:
  bool add_kind(std::uint32_t id, const std::string& text);
  bool add_word(const std::string& text);
  bool add_thread(std::uint32_t id, std::span<const char> content);
  bool add_module(std::uint32_t id, std::span<const char> content);
  bool add_site(std::uint32_t id, std::span<const char> content);
  bool add_counter(std::uint32_t id, std::span<const char> content);

  std::map<std::uint32_t, TracedKind> kinds_;
  std::map<std::pair<std::string, std::uint32_t>, std::string> words_;
  std::map<std::uint32_t, std::string> configuration_;
  std::map<std::uint32_t, TracedCounter> counters_;
  std::map<std::uint32_t, TracedThread> threads_;
  std::map<std::uint32_t, TracedModule> modules_;
  std::map<std::uint32_t, TracedSite> sites_;
  std::map<std::uint32_t, std::vector<std::uint8_t>> peers_;
};

}  // namespace sluice
