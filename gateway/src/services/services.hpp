#pragma once

#include "core/clock.hpp"
#include "core/reactor.hpp"
#include "core/router.hpp"
#include "core/watch.hpp"
#include "endpoints/service_endpoints.hpp"
#include "line/pump.hpp"
#include "services/history_replay.hpp"
#include "services/identity_owners.hpp"
#include "services/pending_requests.hpp"
#include "services/service_answers.hpp"
#include "services/services_status.hpp"
#include "services/status_renderer.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The objects that the services use. All must outlive them.
struct ServicesParts {
    Reactor& reactor;
    Pump& pump;
    /// Returns the body of GET /status; called on a dedicated thread.
    std::function<StatusText()> status;
    MonitorHandler monitor;  // for the log
    AnswerParts answers;
};

/// Replies to requests from DEALER and REQ sockets; see "Services" in docs/wire.md. Each request gets one reply. Work
/// is done in slices of turn_time, so that live samples are sent in between; peers with requests and active replays
/// take turns. A peer whose reply queue is full is not read from until it has read some replies.
///
/// Threads: the reactor's; constructor and destructor any while the reactor is not running; join() the main one after
/// the reactor has stopped.
/// Limits: peers_max connections; backlogs_bytes_max of replies for all peers together, plus one for each of
/// replays_max replays. Each peer may use backlog_bytes_max of that, or one reply; if only that much is left, larger
/// replies are refused as busy. Of requests, twice one receive buffer or one request per peer.
/// Failure: the constructor throws std::system_error if an address cannot be bound. An invalid request gets an error
/// reply. Replies to disconnected peers are counted, as are requests of a peer whose identity another one has taken
/// over; that peer gets no reply.
class Services {
  public:
    /// Each peer needs about 10 KiB while it has nothing to read.
    static constexpr std::size_t peers_max = 1'024;
    /// A peer can have small replies, such as errors, up to this limit: 16 MiB for all peers.
    static constexpr std::size_t backlog_bytes_max = 16 * 1024;
    static constexpr std::size_t backlogs_bytes_max = 32 * 1024 * 1024;
    /// If more data than this waits for all peers, only replies that fit into backlog_bytes_max are sent.
    static constexpr std::size_t large_backlogs_bytes_max = backlogs_bytes_max - peers_max * backlog_bytes_max;
    /// A request that is too large gets an error reply up to this limit; beyond it, the connection is closed.
    static constexpr std::size_t message_bytes_max = 96 * 1024;
    /// The maximum delay of live samples per event-loop iteration, plus one request or step.
    static constexpr std::chrono::microseconds turn_time{200};

    Services(ServicesParts parts, std::span<const ServiceEndpoint> endpoints, std::size_t connections_max);
    Services(const Services&) = delete;
    Services& operator=(const Services&) = delete;

    [[nodiscard]] ServiceEndpoints& endpoints() noexcept { return endpoints_; }
    [[nodiscard]] const ServiceEndpoints& endpoints() const noexcept { return endpoints_; }
    [[nodiscard]] ServicesStatus status() const;
    /// Closes the socket like Router::close(). Pending requests and active replays get no reply.
    void close(std::chrono::milliseconds grace, const std::function<void()>& done);
    /// Waits for the thread that renders a status, if it is running.
    void join() { status_.join(); }

  private:
    struct Peer {
        enum class WaitsFor : std::uint8_t { nothing, room, status };

        PendingRequests pending;
        WaitsFor waits_for = WaitsFor::nothing;
        std::optional<StatusText> status = std::nullopt;  // for the oldest request
        bool is_ready = false;                            // in ready_
        std::size_t replays = 0;

        bool stop_waiting_for(WaitsFor what) noexcept {
            const bool has_waited = waits_for == what;
            waits_for = has_waited ? WaitsFor::nothing : waits_for;
            return has_waited;
        }
        [[nodiscard]] bool can_go_on() const noexcept { return !pending.empty() && waits_for == WaitsFor::nothing; }
    };
    using Frames = std::vector<std::string>;  // in front of a reply
    struct Job {
        enum class WaitsFor : std::uint8_t { nothing, room, log };

        std::string peer;
        Frames envelope;
        std::unique_ptr<HistoryReplay> replay;  // null: the reply is complete
        std::string answer;
        WaitsFor waits_for = WaitsFor::nothing;
    };
    using Peers = std::map<std::string, Peer, std::less<>>;
    using PeerEntry = Peers::value_type;

    void record(const MonitorEvent& event);
    void on_writable(std::string_view peer);
    void turn();
    void check_peers();
    void forget(std::string_view peer);
    void receive_requests();
    void make_ready(PeerEntry& peer) noexcept;
    void answer_next();
    void answer_first(PeerEntry& entry);
    void end_first(Peer& peer) noexcept;
    void send_status(const StatusText& text);
    void work_on_next();
    void work_on(std::list<Job>::iterator job);
    void send_reply(std::list<Job>::iterator job);
    void end(std::list<Job>::iterator job) noexcept;
    [[nodiscard]] static bool can_go_on(const Job& job) noexcept { return job.waits_for == Job::WaitsFor::nothing; }
    [[nodiscard]] bool has_work() const noexcept;
    void wake_replays() noexcept;
    [[nodiscard]] SendStatus send(std::string_view peer, const Frames& envelope, std::string_view body);

    Reactor& reactor_;
    Pump& pump_;
    const MonitorHandler monitor_;
    const SystemClock clock_;
    Router router_;
    ServiceEndpoints endpoints_;
    ServiceCounts counts_;
    ServiceAnswers answers_;
    StatusRenderer status_;
    IdentityOwners owners_;
    Peers peers_;                    // peers with requests
    std::vector<PeerEntry*> ready_;  // peers whose next request can be answered, in turn
    std::list<Job> jobs_;            // the front one runs next
    // this and the next one are filled during router callbacks and processed in the next iteration
    std::vector<std::string> gone_;
    std::vector<std::string> writable_;
    bool has_input_ = false;
    bool is_closing_ = false;
    Later turn_later_;
};

}  // namespace telegate
