#include "runtime/policy/source_history.hpp"

#include "runtime/base/sampled_words.hpp"

namespace sluice {

std::size_t SourceHistory::place_of(Peer peer, std::uint64_t address) {
  return slot_in_table(address, static_cast<std::uint64_t>(peer));
}

WrittenAnew SourceHistory::written_anew(Peer peer, std::uint64_t address, std::size_t bytes) const {
  const Source& known = sources_[place_of(peer, address)];
  const bool is_known = known.address == address && known.peer == peer && known.bytes == bytes;
  if (!is_known || !known.changes) return WrittenAnew::no;
  const std::uint64_t read_since = read_ - known.at;  // as much was written to
  if (2 * bytes > own_bytes_ || read_since > own_bytes_) return WrittenAnew::long_ago;
  return 2 * read_since > own_bytes_ ? WrittenAnew::lately : WrittenAnew::just_now;
}

void SourceHistory::note_read(Peer peer, std::uint64_t address, std::span<const std::byte> copy) {
  const std::uint64_t words = hash_of_samples(copy);
  Source& source = sources_[place_of(peer, address)];
  const bool is_known = source.address == address && source.peer == peer && source.bytes == copy.size();
  source = {address, copy.size(), peer, is_known && words != source.words, words, read_};
  read_ += copy.size();
}

}  // namespace sluice
