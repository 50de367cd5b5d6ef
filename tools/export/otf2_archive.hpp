// The OTF2 library behind an interface that throws: an archive that is being written, its definitions with their numbers.
//
// Threading: one thread.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// Keys with numbers in the order in which they came, in which a reader wants their definitions.
template <class Key>
class Numbered {
 public:
  std::uint32_t number_of(const Key& key) {
    const auto [entry, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) keys_.push_back(&entry->first);
    return entry->second;
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  [[nodiscard]] const Key& operator[](std::uint32_t number) const { return *keys_[number]; }

 private:
  std::map<Key, std::uint32_t> numbers_;
  std::vector<const Key*> keys_;
};

/// Throws std::runtime_error with what the library says of the cause.
class Otf2Archive {
 public:
  explicit Otf2Archive(const std::filesystem::path& directory);
  ~Otf2Archive();
  Otf2Archive(const Otf2Archive&) = delete;
  Otf2Archive& operator=(const Otf2Archive&) = delete;

  /// What the library returned: throws unless it is OTF2_SUCCESS.
  void check(OTF2_ErrorCode code) const;

  [[nodiscard]] OTF2_EvtWriter* open_location(OTF2_LocationRef location);
  /// How many events it has.
  std::uint64_t close_location(OTF2_EvtWriter* writer);

  /// Numbers of definitions, the same for the same. A reader wants a definition before others that name it: strings are written
  /// when definitions begin or when they are new after that, the others when the archive is closed.
  [[nodiscard]] OTF2_StringRef string(const std::string& text);
  [[nodiscard]] OTF2_RegionRef region(const std::string& name);
  [[nodiscard]] OTF2_SourceCodeLocationRef place(const std::string& file, std::uint32_t line);
  /// Of all ranks: a trace does not tell which are in a communicator, but names them by their ranks in MPI_COMM_WORLD.
  [[nodiscard]] OTF2_CommRef communicator(std::uint32_t context);
  /// To be called when all locations are closed.
  [[nodiscard]] OTF2_GlobalDefWriter* definitions();

  /// Attributes of what is entered: the place in the program as a location in its source, and as text.
  static constexpr OTF2_AttributeRef place_attribute = 0;
  static constexpr OTF2_AttributeRef site_attribute = 1;
  static constexpr OTF2_GroupRef ranks_group = 1;

  /// The group of ranks must have been defined.
  void close();

 private:
  void write_strings();

  OTF2_Archive* archive_ = nullptr;
  OTF2_GlobalDefWriter* definitions_ = nullptr;
  Numbered<std::string> strings_;
  Numbered<std::string> regions_;
  Numbered<std::pair<std::string, std::uint32_t>> places_;  // file, line
  Numbered<std::uint32_t> communicators_;
  std::uint32_t strings_written_ = 0;
};

}  // namespace sluice
