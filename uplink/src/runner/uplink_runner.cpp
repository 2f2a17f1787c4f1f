#include "uplink/uplink_runner.hpp"

#include "core/assert.hpp"
#include "core/bytes.hpp"
#include "core/crc32c.hpp"
#include "store/segment_directory.hpp"
#include "store/segment_reader.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

namespace telegate::uplink {
namespace {

constexpr std::int64_t ns_per_ms = 1'000'000;
constexpr std::size_t log_id_bytes_shown = 8;  // distinguishes logs as well as all 16 bytes do

void append_hex(std::uint8_t byte, std::string& out) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += digits[byte >> 4U];
    out += digits[byte & 0xFU];
}

/// Returns "LOG.POSITION.SAMPLE.CHECKSUM". The checksum makes the id depend on the content, which other settings
/// change.
std::string message_id(const store::LogId& log, const OutgoingMessage& message) {
    std::string id;
    for (std::size_t i = 0; i < log_id_bytes_shown; ++i) {
        append_hex(static_cast<std::uint8_t>(log[i]), id);
    }
    id += '.' + std::to_string(message.position) + '.' + std::to_string(message.begin.sample) + '.';
    const std::uint32_t checksum = crc32c(as_bytes(message.payload));
    for (unsigned shift = 32; shift > 0;) {
        shift -= 8;
        append_hex(static_cast<std::uint8_t>(checksum >> shift), id);
    }
    return id;
}

}  // namespace

UplinkRunner::UplinkRunner(Parts parts, Options options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      adapter_(parts_.make_adapter(events())),
      cursor_file_(parts_.files, options_.log_directory, options_.name),
      reader_(parts_.files, options_.log_directory),
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
        delivery_.acknowledged(number, is_duplicate);
        if (delivery_.state() == DeliveryState::sending) {
            next_status_.error.clear();
        }
        later_.ask();
    };
    events.refused = [this](std::uint64_t number, Refusal, const std::string& reason) {
        delivery_.refused(number, parts_.clock.mono_now());
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

void UplinkRunner::note_failure(const std::string& reason) {
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
    connect_or_close(now);
    fill(now);
    send(now);
    save_cursor(now);
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

/// Reads from the log what may be sent and fits into the window.
void UplinkRunner::fill(MonoTime now) {
    if (now < read_again_at_) {
        return;
    }
    try {
        if (!open_log()) {
            return;
        }
        while (delivery_.has_capacity()) {
            if (!outgoing_.empty()) {
                delivery_.add(std::move(outgoing_.front()));
                outgoing_.pop_front();
            } else if (!read_block()) {
                return;
            }
        }
    } catch (const std::exception& error) {
        read_again_at_ = now + read_retry;
        note_failure(error.what());
    }
}

/// Continues where the last process ended. Returns false if there is no log yet.
bool UplinkRunner::open_log() {
    if (log_id_ || synced_ == 0) {
        return log_id_.has_value();
    }
    for (const store::SegmentRef& segment : store::list_segments(parts_.files, options_.log_directory)) {
        const auto head = store::SegmentReader::head(parts_.files, options_.log_directory + "/" + segment.name);
        if (!head) {
            continue;
        }
        const std::optional<Cursor> cursor = cursor_file_.read();
        store::Position position = cursor ? cursor->position : 0;
        if (cursor && (cursor->log_id != head->log_id || cursor->position > synced_)) {
            parts_.notes.restarted(cursor->log_id != head->log_id ? "cursor belongs to another log"
                                                                  : "cursor is after the end of the log");
            position = 0;
        }
        reader_.seek(position);
        delivery_.skip_to(position);
        saved_ = position;
        log_id_ = head->log_id;
        return true;
    }
    return false;
}

/// Reads a block and encodes it. Returns false if there is no further one that is synced.
bool UplinkRunner::read_block() {
    if (!has_batch_) {
        if (read_to_end_at_ == synced_) {
            return false;
        }
        has_batch_ = reader_.next(batch_);
        if (!has_batch_) {
            read_to_end_at_ = synced_;
            return false;
        }
    }
    if (batch_.end_position > synced_) {
        return false;
    }
    has_batch_ = false;
    encode_block();
    return true;
}

void UplinkRunner::encode_block() {
    encoded_.clear();
    const std::int64_t end_utc_ns =
        batch_.samples.empty() ? batch_.epoch_ms * ns_per_ms : batch_.samples.back().time_utc_ns;
    parts_.encode(batch_, end_utc_ns, encoded_);
    if (encoded_.empty()) {
        return delivery_.skip_to(batch_.end_position);
    }
    for (std::size_t i = 0; i < encoded_.size(); ++i) {
        OutgoingMessage& message = encoded_[i];
        message.epoch_ms = batch_.epoch_ms;
        message.position = batch_.position;
        message.end_position = batch_.end_position;
        message.part = static_cast<std::uint32_t>(i);
        message.is_last_part = i + 1 == encoded_.size();
        message.id = message_id(*log_id_, message);
        outgoing_.push_back(std::move(message));
    }
}

void UplinkRunner::send(MonoTime now) {
    try {
        while (const OutgoingMessage* const message = delivery_.next(now)) {
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

void UplinkRunner::save_cursor(MonoTime now) {
    if (!log_id_ || delivery_.settled() == saved_ || now - saved_at_ < cursor_interval) {
        return;
    }
    saved_at_ = now;
    try {
        cursor_file_.write({*log_id_, delivery_.settled()});
        saved_ = delivery_.settled();
        next_status_.cursor_error.clear();
    } catch (const std::exception& error) {
        if (next_status_.cursor_error.empty()) {
            parts_.notes.failed(error.what());
        }
        next_status_.cursor_error = error.what();
    }
}

void UplinkRunner::set_alarm(MonoTime now) {
    MonoTime due = connecting_since_ ? *connecting_since_ + connect_max : delivery_.due();
    if (now < read_again_at_) {
        due = std::min(due, read_again_at_);
    }
    if (log_id_ && delivery_.settled() != saved_) {
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
    next_status_.is_behind = !outgoing_.empty() || !delivery_.is_empty() ||
                             (read_to_end_at_ != synced_ && !(has_batch_ && batch_.end_position > synced_));
    next_status_.delivered_utc_ns = delivery_.delivered_utc_ns();
    next_status_.ledger = delivery_.ledger();
    next_status_.counts = delivery_.counts();
    const std::lock_guard lock(mutex_);
    status_ = next_status_;
}

UplinkStatus UplinkRunner::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

}  // namespace telegate::uplink
