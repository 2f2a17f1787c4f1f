#include "uplink/uplink_runner.hpp"

#include "store/log_reader.hpp"
#include "store/segment_directory.hpp"
#include "store/segment_reader.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

namespace telegate::uplink {
UplinkRunner::UplinkRunner(Parts parts, Options options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      adapter_(parts_.make_adapter(events())),
      cursor_file_(parts_.files, options_.log_directory, options_.name),
      quarantine_(parts_.files, options_.log_directory, options_.name, options_.quarantine),
      feed_({parts_.files, options_.log_directory, parts_.clock, parts_.encode, quarantine_, parts_.arrange}),
      delivery_(options_.delivery, 0),
      later_(parts_.reactor, [this] { work(); }),
      alarm_(parts_.reactor, [this] { work(); }) {}

UplinkRunner::~UplinkRunner() = default;

Adapter::Events UplinkRunner::events() {
    Adapter::Events events;
    events.up = [this](const std::string& server) {
        connecting_since_.reset();
        delivery_.connected();
        next_status_.is_connected = true;
        next_status_.server = server;
        ++next_status_.connections;
        parts_.notes.connected(server);
        later_.ask();
    };
    events.acknowledged = [this](std::uint64_t number, bool is_duplicate) {
        if (const OutgoingMessage* const message = delivery_.in_flight(number);
            message != nullptr && message->quarantine_id != 0) {
            quarantine_.remove(message->quarantine_id);
        }
        note_round_trip(number);
        delivery_.acknowledged(number, is_duplicate);
        if (delivery_.state() == DeliveryState::sending) {
            next_status_.error.clear();
        }
        later_.ask();
    };
    events.refused = [this](std::uint64_t number, Refusal refusal, const std::string& reason) {
        delivery_.refused(number, refusal, parts_.clock.mono_now());
        if (refusal == Refusal::permanent) {
            rejection_ = reason;
        }
        note_failure("refused: " + reason);
        later_.ask();
    };
    events.down = [this](const std::string& reason) {
        connecting_since_.reset();
        delivery_.disconnected(parts_.clock.mono_now());
        next_status_.is_connected = false;
        note_failure(reason);
        later_.ask();
    };
    return events;
}

/// Averages over about eight messages.
void UplinkRunner::note_round_trip(std::uint64_t number) {
    if (delivery_.in_flight(number) != nullptr) {
        const std::chrono::nanoseconds time = parts_.clock.mono_now() - delivery_.sent_at(number);
        std::chrono::nanoseconds& average = next_status_.round_trip;
        average = average.count() == 0 ? time : average + (time - average) / 8;
    }
}

void UplinkRunner::note_failure(const std::string& reason) {
    next_status_.last_error = reason;
    next_status_.last_error_utc_ns = parts_.clock.utc_now_ns();
    if (next_status_.error != reason) {
        next_status_.error = reason;
        parts_.notes.failed(reason);
    }
}

void UplinkRunner::log_synced(store::Position position) {
    synced_ = std::max(synced_, position);
    work();
}

void UplinkRunner::stop() {
    alarm_.cancel();
    later_.cancel();
    adapter_->close();
    saved_at_ = {};
    save_cursor(MonoTime::max());
    next_status_.is_connected = false;
    show();
}

/// Does everything that can be done now, and sets the alarm for the rest.
void UplinkRunner::work() {
    const MonoTime now = parts_.clock.mono_now();
    if (!std::exchange(is_started_, true)) {
        delivery_.start(now);
    }
    if (log_id_) {
        progress_.note(now, synced_, delivery_.settled());
    }
    connect_or_close(now);
    replace_rejected();
    fill(now);
    refill(now);
    send(now);
    save_cursor(now);
    end_graces(now);
    set_alarm(now);
    show();
}

void UplinkRunner::connect_or_close(MonoTime now) {
    const bool is_late = connecting_since_ && now - *connecting_since_ >= connect_max;
    if (is_late || delivery_.is_overdue(now)) {
        adapter_->close();
        connecting_since_.reset();
        delivery_.disconnected(now);
        next_status_.is_connected = false;
        note_failure(is_late ? "the server did not respond in time" : "no acknowledgment in time");
    }
    if (!connecting_since_ && delivery_.may_connect(now)) {
        connecting_since_ = now;
        adapter_->connect();
    }
}

/// Reads the cursor and the quarantine.
void UplinkRunner::load() {
    if (!is_loaded_) {
        loaded_ = cursor_file_.read();
        quarantine_.load();
        is_paused_ = loaded_ && loaded_->is_paused;
        is_loaded_ = true;
    }
}

/// Has messages that the back end will not store divided.
void UplinkRunner::replace_rejected() {
    bool is_different = false;
    for (const OutgoingMessage* const message : delivery_.rejected()) {
        if (message->quarantine_id != 0) {
            quarantine_.keep(message->quarantine_id);
            is_different = true;
        } else if (feed_.divide(*message, rejection_)) {
            is_different = true;
        }
    }
    if (is_different) {
        read_again();
        delivery_.retry_now();
    }
}

/// Discards what was read and is not delivered, and reads it again.
void UplinkRunner::read_again() {
    delivery_.return_all();
    quarantine_.return_taken();
    feed_.seek(delivery_.settled());
}

/// Reads from the log what may be sent and fits into the window.
void UplinkRunner::fill(MonoTime now) {
    if (now < read_again_at_) {
        return;
    }
    try {
        if (!open_log()) {
            return;
        }
        while (delivery_.has_capacity() && quarantine_.has_waiting()) {
            delivery_.add(*quarantine_.take());
        }
        feed_.forget_before(delivery_.settled());
        feed_.fill(delivery_, synced_);
    } catch (const std::exception& error) {
        read_again_at_ = now + read_retry;
        note_failure(error.what());
    }
}

/// Continues where the last process ended. Returns false if there is no log yet.
bool UplinkRunner::open_log() {
    load();
    if (log_id_ || synced_ == 0) {
        return log_id_.has_value();
    }
    for (const store::SegmentRef& segment : store::list_segments(parts_.files, options_.log_directory)) {
        const auto head = store::SegmentReader::head(parts_.files, options_.log_directory + "/" + segment.name);
        if (!head) {
            continue;
        }
        const bool has_cursor = loaded_ && loaded_->log_id != store::LogId{};
        store::Position position = has_cursor ? loaded_->position : 0;
        if (has_cursor && (loaded_->log_id != head->log_id || loaded_->position > synced_)) {
            parts_.notes.restarted(loaded_->log_id != head->log_id ? "cursor belongs to another log"
                                                                   : "cursor is after the end of the log");
            position = 0;
        }
        feed_.set_log(head->log_id);
        feed_.seek(position);
        delivery_.skip_to(position);
        saved_ = position;
        note_saved(parts_.clock.mono_now());
        log_id_ = head->log_id;
        return true;
    }
    return false;
}

void UplinkRunner::refill(MonoTime now) {
    samples_.refill(now, options_.rates.samples_max);
    const double catch_up = options_.rates.catch_up;
    entries_.refill(now, catch_up > 0 ? std::max(catch_up * progress_.live_rate(), catch_up_min) : 0);
}

void UplinkRunner::send(MonoTime now) {
    if (is_paused_) {
        return;
    }
    try {
        while (samples_.has_tokens() && entries_.has_tokens()) {
            const OutgoingMessage* const message = delivery_.next(now);
            if (message == nullptr) {
                return;
            }
            samples_.take(static_cast<double>(message->samples));
            entries_.take(static_cast<double>(message->entries()));
            const std::uint64_t number = delivery_.sent(now);
            adapter_->send(*message, number);
        }
    } catch (const std::exception& error) {  // out of memory
        adapter_->close();
        delivery_.disconnected(now);
        next_status_.is_connected = false;
        note_failure(error.what());
    }
}

Cursor UplinkRunner::cursor() const {
    Cursor cursor = loaded_.value_or(Cursor{});
    if (log_id_) {
        cursor.log_id = *log_id_;
        cursor.position = delivery_.settled();
    }
    cursor.is_paused = is_paused_;
    return cursor;
}

void UplinkRunner::pause(bool is_paused) {
    load();
    Cursor changed = cursor();
    changed.is_paused = is_paused;
    cursor_file_.write(changed);
    loaded_ = changed;
    is_paused_ = is_paused;
    work();
}

/// Returns the position of the beginning of a block.
store::Position UplinkRunner::find(const RewindTarget& target) const {
    if (const auto* const time = std::get_if<std::chrono::nanoseconds>(&target)) {
        store::LogReader reader(parts_.files, options_.log_directory);
        reader.seek_time(time->count());
        return std::min(reader.position(), delivery_.settled());
    }
    const store::Position position = std::get<store::Position>(target);
    const auto segments = store::list_segments(parts_.files, options_.log_directory);
    const auto next = std::upper_bound(
        segments.begin(), segments.end(), position,
        [](store::Position wanted, const store::SegmentRef& each) { return wanted < each.first_position; });
    const auto segment = next == segments.begin() ? nullptr
                                                  : store::SegmentReader::open(
                                                        parts_.files, options_.log_directory + "/" + (next - 1)->name);
    if (segment != nullptr) {
        for (const store::BlockEntry& block : segment->index().blocks) {
            if (block.position <= position && position < block.position + block.entries) {
                return block.position;
            }
        }
    }
    return position;
}

UplinkRunner::RewindResult UplinkRunner::rewind(const RewindTarget& target) {
    if (!log_id_) {
        return RewindResult::no_log;
    }
    const store::Position position = find(target);
    if (position > delivery_.settled()) {
        return RewindResult::not_delivered;
    }
    Cursor changed = cursor();
    changed.position = position;
    cursor_file_.write(changed);
    saved_ = position;
    graces_.clear();
    keep_from_ = std::min<store::Position>(keep_from_, position);
    delivery_.move_to(position);
    read_again();
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
    const bool has_taken = delivery_.has_quarantined();
    quarantine_.clear();
    if (has_taken) {
        read_again();
    }
    quarantine_.save();
    work();
}

void UplinkRunner::save_cursor(MonoTime now) {
    if (!log_id_ || (delivery_.settled() == saved_ && quarantine_.is_saved()) || now - saved_at_ < cursor_interval) {
        return;
    }
    saved_at_ = now;
    try {
        quarantine_.save();
        cursor_file_.write(cursor());
        saved_ = delivery_.settled();
        note_saved(now);
        next_status_.cursor_error.clear();
    } catch (const std::exception& error) {
        if (next_status_.cursor_error.empty()) {
            parts_.notes.failed(error.what());
        }
        next_status_.cursor_error = error.what();
    }
}

void UplinkRunner::note_saved(MonoTime now) {
    if (graces_.empty() || now - graces_.back().first >= options_.ack_grace / graces_max) {
        graces_.emplace_back(now, saved_);
    }
}

void UplinkRunner::end_graces(MonoTime now) {
    while (!graces_.empty() && now - graces_.front().first >= options_.ack_grace) {
        keep_from_ = graces_.front().second;
        graces_.pop_front();
    }
}

void UplinkRunner::set_alarm(MonoTime now) {
    MonoTime due = connecting_since_ ? *connecting_since_ + connect_max : delivery_.due();
    if (is_paused_ && delivery_.state() == DeliveryState::backing_off) {
        due = MonoTime::max();
    }
    if (!is_paused_ && delivery_.state() == DeliveryState::sending) {
        for (const TokenBucket* const bucket : {&samples_, &entries_}) {
            due = bucket->has_tokens() ? due : std::min(due, bucket->due());
        }
    }
    if (now < read_again_at_) {
        due = std::min(due, read_again_at_);
    }
    if (log_id_ && (delivery_.settled() != saved_ || !quarantine_.is_saved())) {
        due = std::min(due, saved_at_ + cursor_interval);
    }
    if (due == MonoTime::max()) {
        return alarm_.cancel();
    }
    alarm_.set(std::chrono::ceil<std::chrono::milliseconds>(std::max(due - now, Duration(0))));
}

void UplinkRunner::show() {
    next_status_.state = delivery_.state();
    next_status_.settled = delivery_.settled();
    next_status_.is_behind = !delivery_.is_empty() || quarantine_.has_waiting() || feed_.has_more(synced_);
    next_status_.delivered_utc_ns = delivery_.delivered_utc_ns();
    next_status_.ledger = delivery_.ledger();
    next_status_.counts = delivery_.counts();
    next_status_.lag = synced_ - std::min(synced_, delivery_.settled());
    next_status_.catch_up_time = next_status_.lag == 0 ? std::chrono::seconds(0) : progress_.catch_up_time();
    next_status_.is_paused = is_paused_;
    next_status_.quarantined = quarantine_.samples().size();
    next_status_.quarantine_bytes = quarantine_.bytes();
    const std::lock_guard lock(mutex_);
    status_ = next_status_;
}

UplinkStatus UplinkRunner::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

}  // namespace telegate::uplink
