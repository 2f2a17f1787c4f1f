#include "lag_limit.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

constexpr std::string_view reads_too_slowly = "reads too slowly";

}  // namespace

LagLimit::Limits LagLimit::limits_of(const PublisherOptions& options) noexcept {
    return {options.backlog_bytes_max,
            std::max(limits::held_bytes_max / options.io_threads, options.backlog_bytes_max)};
}

LagLimit::LagLimit(Reactor& reactor, PeerTable& peers, Limits limits)
    : peers_(peers), limits_(limits), later_close_(reactor, [this] { close_too_slow(); }) {}

void LagLimit::enforce(std::uint64_t log_end) {
    if (log_end <= limits_.backlog_bytes_max) {
        return;
    }
    for (const auto& session : peers_.sessions()) {
        session->outbox()->give_up_before(log_end - limits_.backlog_bytes_max);
    }
    enforce_held_limit();
}

/// Whoever is in the middle of a large message that the log gave up keeps its segment. The farthest behind are cut off
/// at once, however long this turn lasts; never those who are in the latest of these messages, or a single one over the
/// limit would reach nobody.
void LagLimit::enforce_held_limit() {
    while (peers_.segments().held_bytes() > limits_.held_bytes_max) {
        Session* farthest = nullptr;
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        for (const auto& session : peers_.sessions()) {
            const auto position = session->outbox()->backlog().held_position();
            if (!position) {
                continue;
            }
            last = std::max(last, *position);
            if (farthest == nullptr || *position < first) {
                farthest = session.get();
                first = *position;
            }
        }
        if (farthest == nullptr || first == last) {
            return;
        }
        too_slow_.push_back(farthest->id());
        later_close_.ask();
        farthest->cut_off();
    }
}

void LagLimit::close_too_slow() {
    for (const std::uint64_t id : std::exchange(too_slow_, {})) {
        if (Session* session = peers_.find(id)) {
            session->close(reads_too_slowly);
        }
    }
}

}  // namespace telegate
