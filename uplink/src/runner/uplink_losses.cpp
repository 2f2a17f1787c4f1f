#include "uplink/uplink_runner.hpp"

#include <algorithm>
#include <exception>
#include <utility>

// Messages that the back end has acknowledged and lost.
namespace telegate::uplink {

/// Delivers again what the back end has acknowledged and lost.
void UplinkRunner::restore(MonoTime now) {
    if (!receipts_.has_loss() || !log_id_ || now < live_.read_again_at) {
        return;
    }
    try {
        const store::Position position = std::min(receipts_.resend_from(), cursor().oldest());
        move_back(position);
        ++next_status_.losses;
        record_failure("the server has lost messages that it had acknowledged; delivering again from position " +
                       std::to_string(position));
    } catch (const std::exception& error) {
        live_.read_again_at = now + read_retry;
        record_failure(error.what());
    }
}

void UplinkRunner::record_unsynced(MonoTime now) {
    if (options_.unsynced.count() > 0 && log_id_) {
        unsynced_.expire(now);
        unsynced_.record_delivered(now, cursor().position);
        unsynced_oldest_.expire(now);
        unsynced_oldest_.record_delivered(now, cursor().oldest());
    }
}

/// Delivers again what the back end may have lost with its last connection.
void UplinkRunner::resend_unsynced(MonoTime now) {
    if (!has_lost_connection_ || options_.unsynced.count() == 0 || !log_id_ || now < live_.read_again_at) {
        return;
    }
    try {
        const bool as_backlog = options_.order == Order::live_first;
        Cursor changed = cursor();
        if (unsynced_.resend_from() < changed.position) {
            changed.move_back(unsynced_.resend_from(), as_backlog);
        }
        const store::Position oldest = unsynced_oldest_.resend_from();
        if (oldest < changed.oldest() && !changed.backlog.empty()) {
            changed.backlog.front().begin = oldest;
        } else if (oldest < changed.oldest()) {
            changed.move_back(oldest, as_backlog);
        }
        if (changed != cursor()) {
            move_to(std::move(changed));
        }
        has_lost_connection_ = false;
    } catch (const std::exception& error) {
        live_.read_again_at = now + read_retry;
        record_failure(error.what());
    }
}

}  // namespace telegate::uplink
