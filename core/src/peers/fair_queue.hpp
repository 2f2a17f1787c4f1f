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

/// Readable sessions, served round-robin: one receive buffer's worth of data, then the next session.
///
/// Threads: the reactor's.
/// Limits: each session once; frames_per_turn and read_bytes_per_turn of each session per event-loop iteration.
/// Failure: receive() may end sessions that violate the protocol.
class FairQueue {
  public:
    /// `filter`, unless empty, may remove messages from each batch before it is returned.
    explicit FairQueue(Reactor& reactor, std::function<void(MessageBatch&)> filter = {});

    /// Queues a session that is readable.
    void add(Session& session);
    /// Receives nothing from `session` until `older`, which is retired, has been read completely or has ended.
    void hold(Session& session, const Session& older);
    /// Receives nothing from `session` until resume(). Its stream is read no further than the session looks ahead.
    void pause(Session& session);
    void resume(const Session& session);
    /// Removes a session that has ended.
    void remove(const Session& session);
    /// Sets the handler that is called when the queue becomes readable, and again after it has thrown. It may set
    /// another handler.
    void set_on_readable(std::function<void()> handler);

    /// Fills `batch` from the next session; its peer() is that session's identity. Returns false if no session has data
    /// left in this event-loop iteration.
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
    void notify_later();
    void queue(Session& session) noexcept;
    bool release(const Session& older);
    void notify();

    Reactor& reactor_;
    const std::function<void(MessageBatch&)> filter_;
    std::vector<Session*> ready_;  // in order; only sessions that are readable now
    std::vector<Held> held_;       // usually empty: only while an identity is being taken over
    std::vector<Paused> paused_;
    bool receiving_ = false;  // a monitor that is called meanwhile must not change the batch
    std::shared_ptr<const std::function<void()>> on_readable_;
    Alarm late_handler_;  // calls the handler later, when it cannot be called directly
};

}  // namespace telegate
