#include "uplink/uplink_runner.hpp"

#include "uplink/log_positions.hpp"
#include "uplink/start_cursor.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace telegate::uplink {

UplinkRunner::UplinkRunner(Parts parts, Options options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      adapter_(parts_.make_adapter(events())),
      cursor_file_(parts_.files, options_.log_directory, options_.name),
      quarantine_(parts_.files, options_.log_directory, options_.name, options_.quarantine),
      live_(make_queue(false)),
      backlog_(make_queue(true)),
      receipts_(options_.ack_grace),
      unsynced_(options_.unsynced),
      unsynced_oldest_(options_.unsynced),
      later_(parts_.reactor, [this] { work(); }),
      alarm_(parts_.reactor, [this] { work(); }) {}

UplinkRunner::~UplinkRunner() = default;

UplinkRunner::SendQueue UplinkRunner::make_queue(bool is_backlog) {
    return {
        .feed = LogFeed({parts_.files, options_.log_directory, parts_.clock, parts_.encoding, quarantine_, is_backlog}),
        .delivery = Delivery(is_backlog ? options_.delivery.of_backlog() : options_.delivery, 0),
        .rejection = {}};
}

Adapter::Events UplinkRunner::events() {
    Adapter::Events events;
    events.up = [this](const BackEnd& back_end) {
        connecting_since_.reset();
        stream_ = back_end.stream;
        has_places_ = back_end.has_places;
        for (SendQueue* const queue : queues()) {
            queue->delivery.connected();
        }
        next_status_.is_connected = true;
        next_status_.server = back_end.server;
        ++next_status_.connections;
        parts_.notes.connected(back_end.server);
        const bool is_other = stream_ != 0 && saved_.stream != 0 && stream_ != saved_.stream;
        if (back_end.last && !is_other) {
            receipts_.compare(*back_end.last, receipts_.last_place());
        }
        later_.schedule();
    };
    events.checked = [this](Place last) {
        receipts_.compare(last, place_at_check_);
        later_.schedule();
    };
    events.acknowledged = [this](std::uint64_t number, bool is_duplicate, Place place) {
        Delivery& delivery = queue_of(number).delivery;
        if (const auto sent = delivery.in_flight(number / 2)) {
            if (sent->quarantine_id != 0) {
                quarantine_.remove(sent->quarantine_id);
            }
            const std::chrono::nanoseconds time = parts_.clock.mono_now() - sent->sent_at;
            std::chrono::nanoseconds& average = next_status_.round_trip;  // of about eight messages
            average = average.count() == 0 ? time : average + (time - average) / 8;
            if (place != 0) {
                receipts_.record_stored(sent->transmissions, place, is_duplicate);
            }
            delivery.acknowledged(number / 2, is_duplicate);
        }
        bool is_sending = true;
        record_unsynced(parts_.clock.mono_now());
        for (SendQueue* const queue : queues()) {
            queue->delivery.responded(parts_.clock.mono_now());
            queue->delivery.record_success();
            is_sending = is_sending && queue->delivery.state() == DeliveryState::sending;
        }
        if (is_sending) {
            next_status_.error.clear();
        }
        later_.schedule();
    };
    events.refused = [this](std::uint64_t number, Refusal refusal, const std::string& reason,
                            std::chrono::milliseconds retry_after) {
        for (SendQueue* const each : queues()) {
            each->delivery.responded(parts_.clock.mono_now());
        }
        SendQueue& queue = queue_of(number);
        queue.delivery.refused(number / 2, refusal, {parts_.clock.mono_now(), retry_after});
        if (refusal != Refusal::transient) {
            queue.rejection = reason;
        }
        record_failure("refused: " + reason);
        later_.schedule();
    };
    events.down = [this](const std::string& reason, bool is_refused) {
        disconnect(parts_.clock.mono_now(), is_refused);
        record_failure(reason);
        later_.schedule();
    };
    return events;
}

void UplinkRunner::close(MonoTime now) {
    adapter_->close();
    disconnect(now);
}

/// Records that there is no connection.
void UplinkRunner::disconnect(MonoTime now, bool is_refused) {
    connecting_since_.reset();
    for (SendQueue* const queue : queues()) {
        queue->delivery.disconnected(now, is_refused);
    }
    has_lost_connection_ = has_lost_connection_ || next_status_.is_connected;
    next_status_.is_connected = false;
}

/// Ends the connection if messages that will be discarded are in flight: stored later, they could take the places of
/// messages that the back end loses, and so hide the loss.
void UplinkRunner::end_discarded() {
    if (live_.delivery.messages_in_flight() + backlog_.delivery.messages_in_flight() > 0) {
        close(parts_.clock.mono_now());
    }
}

/// Requests the last place of the back end from time to time, because it may lose messages while nothing is sent, and
/// its properties may change.
void UplinkRunner::check(MonoTime now) {
    if (next_status_.is_connected && has_places_ && now - checked_at_ >= check_interval) {
        checked_at_ = now;
        place_at_check_ = receipts_.last_place();
        adapter_->check();
    }
}

void UplinkRunner::record_failure(const std::string& reason) {
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
    activity_ = "closing the connection";
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
        live_.delivery.start(now);
        late_since_ = {now, 0};
    }
    record_progress(now);
    activity_ = "opening or closing the connection";
    connect_or_close(now);
    check(now);
    restore(now);
    resend_unsynced(now);
    make_backlog(now);
    for (SendQueue* const queue : queues()) {
        queue->delivery.may_send(now);
        replace_rejected(*queue);
        fill(*queue, now);
    }
    refill(now);
    activity_ = "sending messages";
    send(now);
    save_cursor(now);
    receipts_.expire(now);
    keep_from_ = receipts_.keep_from();
    set_alarm(now);
    show();
    activity_ = other_activity;
}

void UplinkRunner::record_progress(MonoTime now) {
    if (!log_id_) {
        return;
    }
    if (!ranges_.empty()) {
        BacklogRange& range = ranges_.front();
        range.begin = std::clamp(backlog_.delivery.settled(), range.begin, range.end);
        if (backlog_.feed.is_finished() && backlog_.delivery.is_empty()) {
            ranges_.erase(ranges_.begin());
            start_backlog();
        }
    }
    if (live_.delivery.settled() >= late_since_.second) {
        late_since_ = {now, synced_};
    }
    progress_.record(now, synced_, synced_ - lag());
}

/// Makes late samples a range of the backlog, when nothing of them is in flight.
void UplinkRunner::make_backlog(MonoTime now) {
    is_making_backlog_ = options_.order == Order::live_first && log_id_ && !is_paused_ &&
                         ranges_.size() < Cursor::backlog_max && now - late_since_.first >= late_min &&
                         now >= live_.read_again_at && live_.delivery.settled() < synced_ &&
                         live_.delivery.may_send(now);
    if (!is_making_backlog_ || live_.delivery.messages_in_flight() > 0) {
        return;
    }
    is_making_backlog_ = false;
    try {
        const BacklogRange range{live_.delivery.settled(),
                                 last_block_end(parts_.files, options_.log_directory, synced_)};
        late_since_ = {now, synced_};
        if (range.begin < range.end) {
            if (add_range(ranges_, range)) {
                start_backlog();
            }
            live_.delivery.move_to(range.end);
            live_.feed.seek(range.end);
        }
    } catch (const std::exception& error) {
        live_.read_again_at = now + read_retry;
        record_failure(error.what());
    }
}

/// Reads the first range of the backlog from its beginning.
void UplinkRunner::start_backlog() {
    backlog_.delivery.return_all();
    quarantine_.return_taken();
    if (!ranges_.empty()) {
        backlog_.delivery.move_to(ranges_.front().begin);
        backlog_.feed.seek(ranges_.front().begin, ranges_.front().end);
    }
}

void UplinkRunner::connect_or_close(MonoTime now) {
    const bool is_late = connecting_since_ && now - *connecting_since_ >= connect_max;
    if (is_late || live_.delivery.is_overdue(now) || backlog_.delivery.is_overdue(now)) {
        const std::string waited_for(is_late ? adapter_->waits_for() : "");
        close(now);
        record_failure(!is_late ? "no acknowledgment in time"
                                : "the server did not respond in time" +
                                      (waited_for.empty() ? "" : ", while the uplink waited for " + waited_for));
    }
    if (!connecting_since_ && live_.delivery.may_connect(now)) {
        connecting_since_ = now;
        adapter_->connect();
    }
}

/// Reads the cursor and the quarantine.
void UplinkRunner::load() {
    if (!is_loaded_) {
        saved_ = cursor_file_.read().value_or(Cursor{});
        quarantine_.load();
        is_paused_ = saved_.is_paused;
        is_loaded_ = true;
    }
}

/// Has messages that the back end will not store divided.
void UplinkRunner::replace_rejected(SendQueue& queue) {
    bool is_different = false;
    for (const OutgoingMessage* const message : queue.delivery.rejected()) {
        if (message->quarantine_id != 0) {
            quarantine_.keep(message->quarantine_id);
            is_different = true;
        } else if (queue.feed.divide(*message, queue.rejection)) {
            is_different = true;
        }
    }
    if (is_different) {
        read_again(queue);
        queue.delivery.retry_now();
    }
}

/// Discards what was read and is not delivered, and reads it again.
void UplinkRunner::read_again(SendQueue& queue) {
    queue.delivery.return_all();
    &queue == &live_ ? live_.feed.seek(live_.delivery.settled()) : start_backlog();
}

/// Reads from the log what may be sent and fits into the window.
void UplinkRunner::fill(SendQueue& queue, MonoTime now) {
    if (now < queue.read_again_at) {
        return;
    }
    activity_ = "reading the log";
    try {
        if (!open_log()) {
            return;
        }
        extent_.refresh(now, synced_, parts_.files, options_.log_directory);
        adopt_stream();
        while (&queue == &backlog_ && queue.delivery.has_capacity() && quarantine_.has_waiting()) {
            queue.delivery.add(*quarantine_.next_waiting());
        }
        queue.feed.forget_before(queue.delivery.settled());
        if (&queue == &live_ || !ranges_.empty()) {
            queue.feed.fill(queue.delivery, synced_);
        }
    } catch (const std::exception& error) {
        queue.read_again_at = now + read_retry;
        record_failure(error.what());
    }
}

/// Continues where the last process ended. Returns false if there is no log yet.
bool UplinkRunner::open_log() {
    load();
    if (log_id_ || synced_ == 0) {
        return log_id_.has_value();
    }
    const auto log_id = log_id_of(parts_.files, options_.log_directory);
    if (!log_id) {
        return false;
    }
    const StartCursor start = start_cursor({parts_.files, options_.log_directory, *log_id, synced_}, saved_);
    Cursor from = start.cursor;
    if (options_.unsynced.count() > 0 && from.resend_from > 0 && from.resend_from < from.position) {
        from.move_back(from.resend_from,
                       options_.order == Order::live_first);  // the back end may have failed meanwhile
    }
    const MonoTime now = parts_.clock.mono_now();
    const auto waiting = first_utc_ns(parts_.files, options_.log_directory, from.position);
    next_status_.waiting_utc_ns = waiting.value_or(0);
    const std::chrono::nanoseconds age(waiting ? parts_.clock.utc_now_ns() - *waiting : 0);
    late_since_ = {now - std::clamp<std::chrono::nanoseconds>(age, std::chrono::nanoseconds(0), late_min), synced_};
    const bool is_other_encoding = from.encoding != 0 && from.encoding != options_.encoding;
    encoded_from_ = is_other_encoding ? from.position : from.encoded_from;
    live_.feed.set_log(*log_id);
    live_.feed.seek(from.position);
    live_.delivery.skip_to(from.position);
    backlog_.feed.set_log(*log_id);
    ranges_ = from.backlog;
    start_backlog();
    receipts_.restore(now, from.resend_from, from.last_place);
    unsynced_.restore(now, from.position, 0);
    unsynced_oldest_.restore(now, from.oldest(), 0);
    receipts_.record_delivered(now, from.oldest());
    never_sent_ = {synced_, {}};
    log_id_ = log_id;
    if (!start.problem.empty() || cursor_file_.is_damaged()) {
        parts_.notes.restarted(start.problem.empty() ? "cursor file " + cursor_file_.path() + " is damaged"
                                                     : start.problem);
    } else if (cursor_file_.is_blank()) {
        parts_.notes.warned("cursor file " + cursor_file_.path() + " is empty: delivery begins at the oldest sample");
    }
    return true;
}

/// Delivers to another stream than before from the oldest sample on: it has none of them, and its places mean nothing
/// for those of the other one.
void UplinkRunner::adopt_stream() {
    if (stream_ == 0 || stream_ == saved_.stream) {
        return;
    }
    Cursor changed = cursor();
    changed.stream = stream_;
    if (saved_.stream == 0) {
        return write(std::move(changed), receipts_);
    }
    changed.move_back(0, options_.order == Order::live_first);
    changed.encoded_from = 0;
    Receipts receipts(options_.ack_grace);
    receipts.restore(parts_.clock.mono_now(), 0, 0);
    write(std::move(changed), std::move(receipts));
    encoded_from_ = 0;
    place_at_check_ = 0;
    apply_saved();
    parts_.notes.restarted("the server has another stream than before");
}

void UplinkRunner::refill(MonoTime now) {
    const double catch_up = options_.rates.catch_up;
    rates_.refill(now, options_.rates.samples_max,
                  catch_up > 0 ? std::max(catch_up * progress_.live_rate(), catch_up_min) : 0);
}

void UplinkRunner::send(MonoTime now) {
    tokens_at_ = MonoTime::max();
    const bool is_other_stream = stream_ != 0 && stream_ != saved_.stream;  // see adopt_stream()
    if (is_paused_ || is_other_stream) {
        return;
    }
    try {
        while (SendQueue* const queue = next_queue(now)) {
            const OutgoingMessage* const message = queue->delivery.next(now);
            rates_.consume(*message);
            const bool is_new = std::pair(message->position, message->begin) >= never_sent_;
            never_sent_ = std::max(never_sent_, {message->position, message->end});
            const std::uint64_t number =
                number_of(queue == &backlog_, queue->delivery.sent(now, receipts_.next_transmission(), is_new));
            adapter_->send(*message, number);
        }
    } catch (const std::exception& error) {
        close(now);
        record_failure(error.what());
    }
}

/// Returns the queue of the next message, or null if there is none or it has to wait. The backlog uses what new samples
/// leave of the window and of the rates.
UplinkRunner::SendQueue* UplinkRunner::next_queue(MonoTime now) {
    if (live_.delivery.messages_in_flight() + backlog_.delivery.messages_in_flight() >=
        options_.delivery.messages_max) {
        return nullptr;
    }
    const bool is_waiting = is_making_backlog_ || (options_.order == Order::strict && !ranges_.empty());
    SendQueue* queue = &live_;
    const OutgoingMessage* message = is_waiting ? nullptr : live_.delivery.next(now);
    if (message == nullptr) {
        queue = &backlog_;
        message = backlog_.delivery.next(now);
    }
    const MonoTime due = message != nullptr ? rates_.due(*message) : MonoTime::max();
    tokens_at_ = due > now ? due : MonoTime::max();
    return due <= now ? queue : nullptr;
}

Cursor UplinkRunner::cursor() const {
    Cursor cursor = saved_;
    if (log_id_) {
        cursor.log_id = *log_id_;
        cursor.position = live_.delivery.settled();
        cursor.backlog = ranges_;
        cursor.encoding = options_.encoding;
        cursor.encoded_from = encoded_from_;
    }
    cursor.is_paused = is_paused_;
    return cursor;
}

/// Throws std::system_error if the cursor cannot be saved; then nothing has changed.
void UplinkRunner::move_back(store::Position position) {
    Cursor changed = cursor();
    changed.move_back(position, options_.order == Order::live_first);
    move_to(std::move(changed));
}

/// Continues from a cursor.
void UplinkRunner::move_to(Cursor changed) {
    const store::Position position = changed.oldest();
    Receipts receipts = receipts_;
    receipts.rewind(parts_.clock.mono_now(), position);
    write(std::move(changed), std::move(receipts));
    next_status_.is_repeating = position < encoded_from_;
    if (next_status_.is_repeating) {
        warn_of_repeats();
    }
    apply_saved();
}

void UplinkRunner::warn_of_repeats() {
    parts_.notes.warned("messages before position " + std::to_string(encoded_from_) +
                        " were delivered with other settings: sent again, the server stores them twice");
}

/// Continues from the cursor.
void UplinkRunner::apply_saved() {
    keep_from_ = receipts_.keep_from();
    unsynced_.rewind(parts_.clock.mono_now(), saved_.position);
    unsynced_oldest_.rewind(parts_.clock.mono_now(), saved_.oldest());
    end_discarded();
    ranges_ = saved_.backlog;
    start_backlog();
    live_.delivery.move_to(saved_.position);
    live_.feed.seek(saved_.position);
}

void UplinkRunner::write(Cursor cursor, Receipts receipts) {
    activity_ = "saving the cursor";
    cursor.resend_from = options_.unsynced.count() > 0 ? unsynced_.resend_from() : receipts.resend_from();
    cursor.last_place = receipts.last_place();
    cursor_file_.write(cursor);
    saved_ = std::move(cursor);
    receipts_ = std::move(receipts);
}

void UplinkRunner::save_cursor(MonoTime now) {
    if (is_saved() || now - saved_at_ < cursor_interval) {
        return;
    }
    saved_at_ = now;
    try {
        activity_ = "saving the quarantine";
        quarantine_.save();
        Cursor changed = cursor();
        Receipts receipts = receipts_;
        receipts.record_delivered(now, changed.oldest());
        write(std::move(changed), std::move(receipts));
        next_status_.cursor_error.clear();
    } catch (const std::exception& error) {
        if (std::exchange(next_status_.cursor_error, error.what()).empty()) {
            parts_.notes.failed(error.what());
        }
    }
}

void UplinkRunner::set_alarm(MonoTime now) {
    MonoTime due = connecting_since_ ? *connecting_since_ + connect_max : live_.delivery.due();
    const auto wait_for = [&due](MonoTime time, bool is_awaited) {
        due = is_awaited ? std::min(due, time) : due;
    };
    wait_for(backlog_.delivery.due(), backlog_.delivery.state() != DeliveryState::down);
    wait_for(tokens_at_, true);
    for (const SendQueue* const queue : queues()) {
        wait_for(queue->read_again_at, now < queue->read_again_at);
    }
    wait_for(saved_at_ + cursor_interval, !is_saved());
    wait_for(checked_at_ + check_interval, next_status_.is_connected && has_places_);
    if (due == MonoTime::max()) {
        return alarm_.cancel();
    }
    alarm_.set(std::chrono::ceil<std::chrono::milliseconds>(std::max(due - now, Duration(0))));
}

void UplinkRunner::show() {
    next_status_.ledger = {};
    next_status_.counts = {};
    next_status_.state = (live_.delivery.state() == DeliveryState::sending ? backlog_ : live_).delivery.state();
    for (const SendQueue* const queue : queues()) {
        next_status_.ledger += queue->delivery.ledger();
        next_status_.counts += queue->delivery.counts();
    }
    next_status_.settled = cursor().oldest();
    next_status_.is_behind = !live_.delivery.is_empty() || live_.feed.has_more(synced_);
    next_status_.has_backlog = !ranges_.empty() || !backlog_.delivery.is_empty() || quarantine_.has_waiting();
    next_status_.waiting_since = late_since_.first;
    next_status_.delivered_utc_ns = live_.delivery.delivered_utc_ns();
    next_status_.lag = lag();
    next_status_.backlog = extent_.entries(ranges_);
    next_status_.encoded_from = extent_.entries(0, encoded_from_) > 0 ? encoded_from_ : 0;
    next_status_.is_repeating = next_status_.is_repeating && next_status_.settled < encoded_from_;
    next_status_.catch_up_time = next_status_.lag == 0 ? std::chrono::seconds(0) : progress_.catch_up_time();
    next_status_.is_paused = is_paused_;
    next_status_.quarantined = quarantine_.samples().size();
    next_status_.quarantine_bytes = quarantine_.bytes();
    const std::lock_guard lock(mutex_);
    status_ = next_status_;
}

}  // namespace telegate::uplink
