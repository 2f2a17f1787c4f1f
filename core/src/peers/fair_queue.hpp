#pragma once

#include "core/message.hpp"
#include "core/reactor.hpp"
#include "core/watch.hpp"
#include "session/session.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace telegate {

/// Sessions that have something to take, each in its turn: one receive buffer's worth, then the next.
///
/// Threads: the reactor's.
/// Limits:  each session once; frames_per_turn and read_bytes_per_turn of each session in a turn.
/// Failure: receive() may end sessions that break the protocol, or for whose messages there is no memory.
class FairQueue {
  public:
    /// `filter`, unless empty, may take messages out of each batch before it is given out.
    explicit FairQueue(Reactor& reactor, std::function<void(MessageBatch&)> filter = {});

    /// The session has told that it is readable.
    void add(Session& session);
    /// Nothing is taken from `session` until `older`, which is retired, has caught up or ended.
    void hold(Session& session, const Session& older);
    /// Nothing is taken from `session` until resume(), and it does not read.
    void pause(Session& session);
    void resume(const Session& session);
    /// The session has ended.
    void remove(const Session& session);
    /// The handler is called when there is something after there was nothing, and again after it has thrown; it may set
    /// another one.
    void set_on_readable(std::function<void()> handler);

    /// Fills `batch` from the next session; its peer() is that session's identity. False when no session is left that
    /// has something in this turn.
    [[nodiscard]] bool receive(MessageBatch& batch);
    [[nodiscard]] bool receive_for(MessageBatch& batch, std::chrono::milliseconds time);

  private:
    struct Held {
        Session* session;
        const Session* older;
        bool is_readable = false;
    };

    struct Paused {
        Session* session;
        bool is_readable = false;
    };

    [[nodiscard]] bool fill(MessageBatch& batch);
    [[nodiscard]] static Session::TakeStatus take(Session& session, MessageBatch& batch);
    void tell_later();
    void reserve_ready();
    void queue(Session& session) noexcept;
    bool release(const Session& older);
    void tell();

    Reactor& reactor_;
    const std::function<void(MessageBatch&)> filter_;
    std::vector<Session*> ready_;  // in turn; as few as have something at one moment
    std::vector<Held> held_;       // empty but while somebody's connection is being taken over
    std::vector<Paused> paused_;
    bool receiving_ = false;  // what a monitor calls then must not touch the batch
    std::shared_ptr<const std::function<void()>> on_readable_;
    Alarm late_handler_;  // tells what there is to read, where that cannot be told from within
};

}  // namespace telegate
