#pragma once

#include "base/memory_reserve.hpp"
#include "core/clock.hpp"
#include "core/reactor.hpp"
#include "core/router.hpp"
#include "core/watch.hpp"
#include "endpoints/service_endpoints.hpp"
#include "line/pump.hpp"
#include "services/asked_requests.hpp"
#include "services/history_replay.hpp"
#include "services/identity_owners.hpp"
#include "services/service_answers.hpp"
#include "services/services_status.hpp"
#include "services/status_renderer.hpp"

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

/// All outlive the services.
struct ServicesParts {
    Reactor& reactor;
    Pump& pump;
    /// The body of GET /status; called on a thread of its own.
    std::function<StatusText()> status;
    MonitorHandler monitor;  // for the log
    AnswerParts told;
};

/// Answers what DEALER and REQ sockets ask for: see "Services" in docs/wire.md. Each request has one answer. Work is
/// done in turns of turn_time, so that live samples pass in between; each peer with something to do, and each replay,
/// has its step in turn. A peer whose answer has no room is not read from until it has taken some.
///
/// Threads: the reactor's; constructor and destructor any while nobody turns it; join() the main one once the reactor
///          has stopped.
/// Limits:  peers_max connections; backlogs_bytes_max of answers for all together, and one for each of replays_max
///          replays. Of that each peer may have backlog_bytes_max, or one answer; where no more is left but that,
///          larger answers are refused as busy. Of requests, twice one receive buffer or one request for each peer.
/// Failure: the constructor throws std::system_error when an address cannot be had. A request that is wrong has an
///          answer that says so. An answer whose asker has gone is counted, as is what was asked by a peer whose
///          identity another one has taken over: that one hears nothing of it. A request for which there is no memory
///          has no answer, and is counted too; recover() may throw std::bad_alloc, and is to be called again then.
class Services {
  public:
    /// Each needs some 10 KiB while it has nothing to read.
    static constexpr std::size_t peers_max = 1'024;
    /// Small answers, such as errors, are given to whom has room for them: of all peers they are 16 MiB.
    static constexpr std::size_t backlog_bytes_max = 16 * 1024;
    static constexpr std::size_t backlogs_bytes_max = 32 * 1024 * 1024;
    /// What waits for all peers, beyond which only answers that fit backlog_bytes_max are given.
    static constexpr std::size_t large_backlogs_bytes_max = backlogs_bytes_max - peers_max * backlog_bytes_max;
    /// A request that is too large, up to this, has an answer; who sends more is closed.
    static constexpr std::size_t message_bytes_max = 96 * 1024;
    /// How long live samples may have to wait in each turn of the loop, and for one request or step more.
    static constexpr std::chrono::microseconds turn_time{200};

    Services(ServicesParts parts, std::span<const ServiceEndpoint> endpoints, std::size_t connections_max,
             std::int64_t epoch_ms);
    Services(const Services&) = delete;
    Services& operator=(const Services&) = delete;

    [[nodiscard]] ServiceEndpoints& endpoints() noexcept { return endpoints_; }
    [[nodiscard]] const ServiceEndpoints& endpoints() const noexcept { return endpoints_; }
    [[nodiscard]] ServicesStatus status() const;
    /// As Router::close(). What is asked or at work then has no answer any more.
    void close(std::chrono::milliseconds grace, const std::function<void()>& done);
    /// After a call of the reactor's that found no memory: does again what it may have left undone.
    void recover();
    /// Waits for the thread that renders a status, if there is one.
    void join() { status_.join(); }

  private:
    struct Peer {
        enum class WaitsFor : std::uint8_t { nothing, room, status };

        AskedRequests asked;
        WaitsFor waits_for = WaitsFor::nothing;
        std::optional<StatusText> status = std::nullopt;  // for the oldest that it has asked
        bool is_ready = false;                            // in the list
        std::size_t replays = 0;

        bool stop_waiting_for(WaitsFor what) noexcept {
            const bool has_waited = waits_for == what;
            waits_for = has_waited ? WaitsFor::nothing : waits_for;
            return has_waited;
        }
        [[nodiscard]] bool can_go_on() const noexcept { return !asked.empty() && waits_for == WaitsFor::nothing; }
    };
    using Frames = std::vector<std::string>;  // in front of an answer
    struct Job {
        std::string peer;
        Frames envelope;
        std::unique_ptr<HistoryReplay> replay;  // null: the answer is ready
        std::string answer;
        bool waits_for_room = false;
    };
    using Peers = std::map<std::string, Peer, std::less<>>;
    using PeerEntry = Peers::value_type;

    void note(const MonitorEvent& event);
    void note_writable(std::string_view peer);
    void turn();
    void look_at_peers();
    void forget(std::string_view peer);
    void take_requests();
    void lose_requests(const MessageBatch& batch);
    void make_ready(PeerEntry& peer) noexcept;
    void answer_next();
    void answer_first(PeerEntry& entry);
    void end_first(Peer& peer) noexcept;
    void give_status(const StatusText& text);
    void work_on_next();
    void work_on(std::list<Job>::iterator job);
    void give(std::list<Job>::iterator job);
    void end(std::list<Job>::iterator job) noexcept;
    [[nodiscard]] bool has_work() const noexcept;
    [[nodiscard]] SendStatus send(std::string_view peer, const Frames& envelope, std::string_view body);

    Pump& pump_;
    const MonitorHandler monitor_;
    const SystemClock clock_;
    Router router_;
    ServiceEndpoints endpoints_;
    ServiceCounts counts_;
    ServiceAnswers answers_;
    StatusRenderer status_;
    IdentityOwners owners_;
    Peers peers_;                    // those that have asked for something
    std::vector<PeerEntry*> ready_;  // whose next request is to be answered, in turn
    std::list<Job> jobs_;            // the front one has its step next
    std::vector<std::string> gone_;  // and the next: told from within calls of the router, so for the next turn
    std::vector<std::string> writable_;
    bool has_input_ = false;
    bool is_closing_ = false;
    MemoryReserve reserve_;
    Later turn_later_;
};

}  // namespace telegate
