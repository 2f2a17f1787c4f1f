#pragma once

#include "session/session.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace telegate {

/// The accepted sessions of one socket whose handshake is not finished, oldest first.
///
/// Threads: the reactor's.
/// Limits: set by the caller, which closes the oldest sessions.
/// Failure: add() may throw std::bad_alloc.
class PendingHandshakes {
  public:
    void add(Session& session);
    /// Removes a session; does nothing if it is not listed.
    void remove(const Session& session);

    [[nodiscard]] std::size_t size() const noexcept { return sessions_.size(); }
    [[nodiscard]] std::size_t size_of(const std::string& address) const;
    /// Returns null if there is none.
    [[nodiscard]] Session* oldest() const noexcept;
    [[nodiscard]] Session* oldest_of(std::string_view address) const noexcept;

  private:
    std::map<std::uint64_t, Session*> sessions_;  // by id, and therefore by age
    std::unordered_map<std::string, std::size_t> addresses_;
};

}  // namespace telegate
