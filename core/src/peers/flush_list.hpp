#pragma once

#include "session/session.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace telegate {

/// Sessions that something was added to since they were last written to.
///
/// Threads: the reactor's.
/// Limits:  a session is in it once for each flush of its own in the meantime; allocates nothing in the steady state.
/// Failure: mark() may throw std::bad_alloc. What `each` throws leaves flush(); the sessions not yet reached stay
/// listed.
class FlushList {
  public:
    /// Nothing happens when the session has ended.
    void mark(Session& session) {
        if (session.state() != Session::State::closed && !session.is_dirty()) {
            sessions_.push_back(&session);
            session.mark_dirty();
        }
    }
    /// The session is about to go.
    void forget(const Session& session) noexcept {
        for (Session*& listed : sessions_) {
            listed = listed == &session ? nullptr : listed;
        }
    }
    [[nodiscard]] bool empty() const noexcept { return sessions_.empty(); }

    /// Calls `each` for every one, which may mark and forget, and call flush() itself. What is marked meanwhile stays
    /// for the next time, so that it comes to an end.
    template <class Each>
    void flush(const Each& each) {
        ++flushes_;
        const std::size_t count = sessions_.size();
        for (Turn turn(*this); turn.index < count;) {
            if (Session* session = std::exchange(sessions_[turn.index++], nullptr)) {
                ++flushes_;  // what is added from within `each` may come too late for this session
                each(*session);
            }
        }
    }

    /// Counts the calls of flush() and the sessions that it wrote to, from 1.
    [[nodiscard]] const std::uint64_t& flushes() const noexcept { return flushes_; }

  private:
    /// One call of flush(). The outermost one removes what it has reached.
    struct Turn {
        explicit Turn(FlushList& list_in) noexcept
            : list(list_in), is_outermost(!std::exchange(list_in.flushing_, true)) {}
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        ~Turn() {
            if (is_outermost) {
                list.sessions_.erase(list.sessions_.begin(),
                                     list.sessions_.begin() + static_cast<std::ptrdiff_t>(index));
                list.flushing_ = false;
            }
        }

        FlushList& list;
        const bool is_outermost;
        std::size_t index = 0;
    };

    std::vector<Session*> sessions_;  // null: flushed, or gone
    bool flushing_ = false;
    std::uint64_t flushes_ = 1;
};

}  // namespace telegate
