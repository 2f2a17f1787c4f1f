#pragma once

#include "session/session.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace telegate {

/// The accepted sessions of one socket, on this thread and on others, whose handshake is not finished, oldest first.
///
/// Threads: the reactor's.
/// Limits: set by the caller, which closes the oldest sessions.
/// Failure: add() may throw std::bad_alloc.
class PendingHandshakes {
  public:
    struct Handshake {
        std::uint64_t id = 0;        // of the session; 0: there is none
        Session* session = nullptr;  // null: on another thread
    };

    void add(const Handshake& handshake, const std::string& address);
    /// Removes a session; does nothing if it is not listed.
    void remove(std::uint64_t id);

    [[nodiscard]] std::size_t size() const noexcept { return handshakes_.size(); }
    [[nodiscard]] std::size_t size_of(const std::string& address) const;
    /// Returns the oldest handshake of an address, or of all if it is empty. `only_here`: on this thread.
    [[nodiscard]] Handshake oldest(std::string_view address, bool only_here) const noexcept;

  private:
    using Addresses = std::unordered_map<std::string, std::size_t>;  // with the number of handshakes
    struct Entry {
        Session* session;
        Addresses::value_type* address;
    };

    std::map<std::uint64_t, Entry> handshakes_;  // by id, and therefore by age
    Addresses addresses_;
};

}  // namespace telegate
