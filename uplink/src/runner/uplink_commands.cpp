#include "uplink/uplink_runner.hpp"

#include "uplink/start_cursor.hpp"

#include <utility>

// The commands of an operator.
namespace telegate::uplink {

void UplinkRunner::pause(bool is_paused) {
    load();
    Cursor changed = cursor();
    changed.is_paused = is_paused;
    write(std::move(changed), receipts_);
    is_paused_ = is_paused;
    work();
}

UplinkRunner::RewindResult UplinkRunner::rewind(const RewindTarget& target, bool may_store_twice) {
    if (!log_id_) {
        return RewindResult::no_log;
    }
    const store::Position settled = live_.delivery.settled();
    const store::Position position = find_target(parts_.files, options_.log_directory, target, settled);
    if (position > settled) {
        return RewindResult::not_delivered;
    }
    if (position < encoded_from_ && !may_store_twice) {
        warn_of_repeats();
        return RewindResult::stores_twice;
    }
    move_back(position);
    work();
    return RewindResult::done;
}

const std::deque<QuarantinedSample>& UplinkRunner::quarantined() {
    load();
    return quarantine_.samples();
}

void UplinkRunner::retry_quarantined() {
    load();
    quarantine_.retry_all();
    work();
}

void UplinkRunner::clear_quarantine() {
    load();
    const bool has_taken = backlog_.delivery.has_quarantined();
    quarantine_.clear();
    if (has_taken) {
        end_discarded();
        read_again(backlog_);
    }
    quarantine_.save();
    work();
}

}  // namespace telegate::uplink
