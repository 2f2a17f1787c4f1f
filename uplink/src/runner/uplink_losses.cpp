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
        unsynced_.record_delivered(now, live_.delivery.settled());
        unsynced_backlog_.expire(now);
        unsynced_backlog_.record_delivered(now, ranges_.empty() ? 0 : backlog_.delivery.settled());
    }
}

/// Delivers again what the back end may have lost with its last connection.
void UplinkRunner::resend_unsynced(MonoTime now) {
    if (!has_lost_connection_ || !log_id_ || now < live_.read_again_at) {
        return;
    }
    try {
        Cursor changed = cursor();
        const store::Position position = unsynced_.resend_from();
        const store::Position in_backlog = unsynced_backlog_.resend_from();
        if (position < changed.position) {
            changed.move_back(position, options_.order == Order::live_first);
        }
        if (!changed.backlog.empty() && in_backlog > 0 && in_backlog < changed.backlog.front().begin) {
            changed.backlog.front().begin = in_backlog;
        }
        if (options_.unsynced.count() > 0 && changed != cursor()) {
            const store::Position oldest = changed.oldest();
            unsynced_.rewind(now, position);
            unsynced_backlog_.rewind(now, in_backlog);
            move_to(std::move(changed), oldest);
        }
        has_lost_connection_ = false;
    } catch (const std::exception& error) {
        live_.read_again_at = now + read_retry;
        record_failure(error.what());
    }
}

}  // namespace telegate::uplink
