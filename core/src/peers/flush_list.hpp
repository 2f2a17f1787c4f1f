#pragma once

#include "session/session.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace telegate {

/// Sessions with data added since they were last written.
///
/// Threads: the reactor's.
/// Limits: lists a session once, and again after each flush of its own in the meantime; allocates nothing in the steady
/// state.
/// Failure: mark() may throw std::bad_alloc. An exception of `each` leaves flush(); the sessions not yet reached stay
/// listed.
class FlushList {
  public:
    /// Lists a session; does nothing if the session has ended.
    void mark(Session& session) {
        if (session.state() != Session::State::closed && !session.is_dirty()) {
            sessions_.push_back(&session);
            session.mark_dirty();
        }
    }
    /// Removes a session that is about to be destroyed.
    void forget(const Session& session) noexcept {
        for (Session*& listed : sessions_) {
            listed = listed == &session ? nullptr : listed;
        }
    }
    [[nodiscard]] bool empty() const noexcept { return sessions_.empty(); }

    /// Calls `each` for every listed session. It may call mark(), forget() and flush(). Sessions marked meanwhile stay
    /// listed for the next flush(), so that this call terminates.
    template <class Each>
    void flush(const Each& each) {
        ++flushes_;
        const std::size_t count = sessions_.size();
        for (Turn turn(*this); turn.index < count;) {
            if (Session* session = std::exchange(sessions_[turn.index++], nullptr)) {
                ++flushes_;  // data added by `each` may come too late for this session
                each(*session);
            }
        }
    }

    /// Returns a counter of flush() calls and of the sessions written, which starts at 1.
    [[nodiscard]] const std::uint64_t& flushes() const noexcept { return flushes_; }

  private:
    /// One call of flush(). The outermost one removes the entries that it has reached.
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

    std::vector<Session*> sessions_;  // null: flushed or destroyed
    bool flushing_ = false;
    std::uint64_t flushes_ = 1;
};

}  // namespace telegate
