#pragma once

#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/waker.hpp"
#include "core/watch.hpp"
#include "peers/peer_table.hpp"
#include "peers/remote_sessions.hpp"
#include "publish/shard_queue.hpp"
#include "shards/shard.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The events of a publisher's sessions on other threads, called on the publisher's thread.
struct RemoteEvents {
    std::function<void(std::uint64_t id)> opened;
    std::function<void(std::uint64_t id)> ended;
    std::function<void(std::uint64_t id, std::string_view prefix)> subscribed;
    std::function<void(std::uint64_t id, std::string_view prefix)> canceled;
    std::function<void()> advanced;  // there is progress that the publisher waits for
};

/// All other threads of a publisher, with the link to each. Hands connections over to the thread with the fewest
/// sessions, processes the notes of the threads, in order for each connection, and queries the threads. Publishing
/// waits for a thread that is too far behind, see ShardQueue; the threads never wait.
///
/// Threads: the publisher's. Limits: see ShardQueue, ShardNotes and RemoteSessions.
/// Failure: the constructor throws std::system_error if no descriptor or thread is available. An exception of a handler
/// on another thread leaves the publisher's reactor.
class Shards {
  public:
    /// Starts the other threads of `options.io_threads`, if any. The options and `peers`, of the publisher's own
    /// thread, must outlive this object.
    Shards(Reactor& reactor, const PublisherOptions& options, PeerTable& peers, RemoteEvents events);
    /// Ends the threads. The log's write cursor must be settled, and no reader set may refer to a queue.
    ~Shards();
    Shards(const Shards&) = delete;
    Shards& operator=(const Shards&) = delete;

    /// Returns the queues, indexed by RemoteSession::shard.
    [[nodiscard]] std::span<const std::unique_ptr<ShardQueue>> queues() const noexcept { return queues_; }

    void set_monitored(bool monitored);
    /// Lets the threads write what is pending, then closes their sessions as PeerTable::close() does.
    void close(std::chrono::milliseconds grace);

    /// See Deliveries. The other threads apply the policy slightly later.
    void set_delivery(const std::string& endpoint, const Delivery& delivery);
    void forget_delivery(const std::string& endpoint);
    /// Sends one message to one session. Returns false if there is none.
    [[nodiscard]] bool send_to(std::uint64_t id, std::string_view topic, std::string_view payload,
                               const std::optional<SampleRange>& samples);

    /// Has a session closed by its thread, after all messages published before. Returns false if there is none.
    bool close_peer(std::uint64_t id, std::string_view why);
    /// As PeerTable::close_handshakes(), on each thread.
    void close_handshakes(const std::string& endpoint);
    /// Closes the sessions accepted at one endpoint as PeerTable::close_accepted() does, after all messages
    /// published before.
    void close_accepted(const std::string& endpoint, std::chrono::milliseconds grace);

    /// These functions query each thread and wait for the result.
    /// Adds the statuses of all sessions to those in `all`, sorted by id.
    void add_statuses(std::vector<PeerStatus>& all);
    [[nodiscard]] SocketTotals totals();

  private:
    /// An endpoint whose sessions are closed when the thread has received all data that is pending for them.
    struct Closing {
        std::string endpoint;
        std::chrono::steady_clock::time_point end;
    };
    /// One thread and the data that is shared with it.
    struct Branch {
        ShardLink link;
        PendingWake posted_wake;
        std::unique_ptr<Shard> shard;
        std::vector<std::uint32_t> places_free;
        std::uint32_t places = 0;  // places ever used
        std::size_t sessions = 0;
        bool is_close_sent = false;
        std::vector<Closing> closings;
    };

    [[nodiscard]] ShardCalls calls_of(std::size_t number);
    [[nodiscard]] ShardQueueCalls queue_calls(std::size_t number, const LossHooks& hooks);
    [[nodiscard]] bool hand_over(Handover& handover, std::size_t sessions_here);
    [[nodiscard]] std::size_t branch_for(const Handover& handover, std::size_t sessions_here) const;
    void flush(std::size_t number);
    void read(std::size_t number, std::shared_ptr<const ShardNotes::Batch> notes);
    void read(const ShardNote& note);
    void remove(std::uint64_t id);
    void send_close(std::size_t number);
    void send_closings(std::size_t number);
    template <class Answer>
    [[nodiscard]] std::future<Answer> query(std::size_t number, const std::function<Answer(Shard&)>& question);
    template <class Answer>
    [[nodiscard]] std::vector<Answer> query(const std::function<Answer(Shard&)>& question);

    Reactor& reactor_;
    PeerTable& peers_;
    RemoteSessions& remote_;
    const RemoteEvents events_;
    std::vector<Branch> branches_;
    std::vector<std::unique_ptr<ShardQueue>> queues_;
    bool closing_ = false;
    std::chrono::steady_clock::time_point close_end_ = std::chrono::steady_clock::time_point::max();
    Alarm close_alarm_;            // for the threads that have not taken everything in time
    std::shared_ptr<void> alive_;  // so that a posted call finds out that this object is gone
};

}  // namespace telegate
