#pragma once

#include "peers/dialer.hpp"
#include "peers/peer_monitor.hpp"
#include "session/session.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace telegate {

/// The sessions of one socket with the notes of its PeerTable about each. A session stores its index.
///
/// Threads: the reactor's.
/// Limits: the caller's.
/// Failure: none.
class SessionList {
  public:
    struct Note {
        Dialer* dialer = nullptr;  // null: the connection was accepted
        PeerMonitor::Reported reported;
        std::chrono::steady_clock::time_point cut_at = std::chrono::steady_clock::time_point::max();
        std::chrono::steady_clock::time_point began_at = std::chrono::steady_clock::now();

        /// Returns whether the outbox belongs to the dialer, where it is counted.
        [[nodiscard]] bool is_outbox_kept() const noexcept { return dialer != nullptr && dialer->outbox() != nullptr; }
    };

    Session& add(std::unique_ptr<Session> session, const Note& note) noexcept;
    /// Removes a session and returns its note. The session exists until destroy_removed(), because it may be in the
    /// middle of a call. The last session takes its index.
    Note remove(const Session& session) noexcept;
    void destroy_removed() noexcept { removed_.clear(); }
    void destroy_all() noexcept { sessions_.clear(); }

    [[nodiscard]] const std::vector<std::unique_ptr<Session>>& all() const noexcept { return sessions_; }
    [[nodiscard]] std::size_t size() const noexcept { return sessions_.size(); }
    [[nodiscard]] bool empty() const noexcept { return sessions_.empty(); }
    [[nodiscard]] Session& at(std::size_t index) const noexcept { return *sessions_[index]; }
    [[nodiscard]] Note& note_of(const Session& session) noexcept { return notes_[session.index()]; }
    [[nodiscard]] const Note& note_of(const Session& session) const noexcept { return notes_[session.index()]; }
    /// These return null if there is none.
    [[nodiscard]] Session* find(std::uint64_t id) const noexcept;
    [[nodiscard]] Session* of(const Dialer& dialer) const noexcept;
    /// Returns the oldest retiring session, preferring those that have been read completely.
    [[nodiscard]] Session* first_retiring() const noexcept;
    [[nodiscard]] std::vector<Session*> accepted_at(std::string_view endpoint) const;

  private:
    std::vector<std::unique_ptr<Session>> sessions_;
    std::vector<Note> notes_;  // of the session at the same index
    std::vector<std::unique_ptr<Session>> removed_;
};

}  // namespace telegate
