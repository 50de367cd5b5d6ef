// Tags in the helper thread's epoll set (verbs/transport.hpp).
#pragma once

#include <cstdint>

namespace sluice::watch_tags {

inline constexpr std::uint64_t bell = 0;
inline constexpr std::uint64_t listeners = 1;
inline constexpr std::uint64_t channel = 2;
inline constexpr std::uint64_t adapter = 3;
inline constexpr std::uint64_t first_peer = 16;  // and its rank

}  // namespace sluice::watch_tags
