#pragma once

#include "base/topic_order.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "core/ledger.hpp"
#include "durable/log_history.hpp"
#include "encode/json_encoder.hpp"
#include "line/pump.hpp"
#include "services/history_replay.hpp"
#include "services/pending_requests.hpp"
#include "services/service_request.hpp"
#include "services/services_status.hpp"
#include "services/status_renderer.hpp"
#include "state/state_file.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace telegate {

/// The maximum size of a reply.
inline constexpr std::size_t answer_bytes_max = 1024 * 1024;

/// The objects that replies describe. All must outlive the ServiceAnswers.
struct AnswerParts {
    const ChannelTable& channels;
    const Ledger& ledger;
    const History& history;
    const Pump& pump;
    const StateFile& past;
    SampleText& text;
    LogHistory* log = nullptr;  // null: none
};

/// The state of the requesting peer.
struct Requester {
    const std::optional<StatusText>& status;  // nullopt: not rendered yet
    std::size_t replays = 0;                  // active for this peer
    std::size_t replays_in_all = 0;
    bool is_room_short = false;  // so much data waits to be read that only small replies are possible
};

/// The status must be rendered first.
struct NeedsStatus {};
/// A reply, or the replay that creates it.
using Answered = std::variant<std::string, std::unique_ptr<HistoryReplay>, NeedsStatus>;

/// Creates the reply to a request; see "Services" in docs/wire.md.
///
/// Threads: the pump's.
/// Limits: answer_bytes_max for one reply, replays_max, page_entries_max.
/// Failure: an invalid request gets an error reply; may throw std::bad_alloc.
class ServiceAnswers {
  public:
    static constexpr std::size_t replays_max = 16;
    static constexpr std::size_t replays_per_peer_max = 4;
    static constexpr std::size_t page_entries_max = 1'000;  // takes about 0.3 ms
    static constexpr std::chrono::milliseconds retry_after{100};

    /// `counts` must outlive this object.
    /// `wake` is called on tg-log-read when a replay that waits can continue.
    ServiceAnswers(AnswerParts parts, std::function<void()> wake, ServiceCounts& counts);

    [[nodiscard]] Answered answer(const PendingRequest& asked, const Requester& requester);

  private:
    [[nodiscard]] std::string begin(const ServiceHead& head) const;
    [[nodiscard]] std::string fail(const ServiceFault& fault);
    [[nodiscard]] std::string fail(const ServiceRequest& request, ServiceError error, std::string detail);
    [[nodiscard]] std::string ping(const ServiceRequest& request) const;
    [[nodiscard]] std::string catalog(const ServiceRequest& request);
    [[nodiscard]] std::string past_catalog(const ServiceRequest& request);
    [[nodiscard]] std::string snapshot(const ServiceRequest& request);
    [[nodiscard]] Answered status(const ServiceRequest& request, const Requester& requester);
    [[nodiscard]] Answered replay(const ServiceRequest& request, const Requester& requester);
    [[nodiscard]] ReplayParts replay_parts(const ServiceRequest& request);
    [[nodiscard]] std::unique_ptr<HistoryReplay> make_replay(const ServiceRequest& request);
    [[nodiscard]] std::unique_ptr<HistoryReplay> replay_holes(const ServiceRequest& request);
    [[nodiscard]] std::string past_holes(const ServiceRequest& request);
    [[nodiscard]] std::string unknown_epoch(const ServiceRequest& request, const std::string& why);
    [[nodiscard]] std::string end_of(std::span<const ChannelId> page, std::size_t looked_at) const;
    [[nodiscard]] std::uint64_t last_captured(ChannelId channel) const;

    const AnswerParts parts_;
    const SystemClock clock_;
    const std::int64_t epoch_ms_;
    TopicOrder topics_;
    const std::function<void()> wake_;
    ServiceCounts& counts_;
};

}  // namespace telegate
