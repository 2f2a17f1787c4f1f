#pragma once

#include "uplink/adapter.hpp"
#include "uplink/cursor_file.hpp"
#include "uplink/delivery.hpp"
#include "uplink/log_feed.hpp"
#include "uplink/log_positions.hpp"
#include "uplink/quarantine.hpp"
#include "uplink/rates.hpp"
#include "uplink/receipts.hpp"
#include "uplink/start_cursor.hpp"

#include "core/clock.hpp"
#include "core/reactor.hpp"
#include "core/watch.hpp"
#include "store/file_system.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telegate::uplink {

/// The state of an uplink at one moment.
struct UplinkStatus {
    bool is_connected = false;
    DeliveryState state = DeliveryState::down;
    std::string server;      // of the last connection; "": none yet
    std::string error;       // why nothing is delivered now; "": no failure since the last acknowledgment
    std::string last_error;  // the last failure; "": none yet
    std::int64_t last_error_utc_ns = 0;
    std::string cursor_error;     // why the cursor cannot be saved; "": it can
    store::Position settled = 0;  // everything before it is delivered
    bool is_behind = false;       // something that is synced is not delivered, besides the backlog
    bool has_backlog = false;     // something is delivered after later samples, see UplinkRunner::Order
    std::int64_t delivered_utc_ns = 0;
    std::int64_t waiting_utc_ns = 0;  // of the oldest sample that was not delivered at the start; 0: unknown
    MonoTime waiting_since{};         // since when at least the oldest of what is not delivered has waited
    std::uint64_t connections = 0;    // since the start
    std::uint64_t losses = 0;         // times that the back end was found to have lost acknowledged messages
    DeliveryLedger ledger;
    DeliveryCounts counts;
    store::Position lag = 0;      // entries of the log that are synced and not delivered
    store::Position backlog = 0;  // of these, the ones that are delivered after later samples
    /// Messages before this position were delivered with other settings: sent again, they have other ids, and the back
    /// end stores them twice. 0: the log has none of them.
    store::Position encoded_from = 0;
    bool is_repeating = false;                          // such messages are sent again
    std::optional<std::chrono::seconds> catch_up_time;  // until everything is delivered; nullopt: never, at this rate
    std::chrono::nanoseconds round_trip{0};  // between a message and its acknowledgment, on average; 0: unknown
    bool is_paused = false;
    std::size_t quarantined = 0;  // samples in the quarantine
    std::size_t quarantine_bytes = 0;
};

/// Delivers a durable log to a back end, from the position at which the last process ended. It reads the log block by
/// block, so its memory does not grow with the backlog, and reads only what is synced: what it delivers cannot be
/// missing from the log after a power failure. If the back end turns out to have lost messages that it had
/// acknowledged, everything that was acknowledged in the last ack_grace is delivered again. If it cannot tell, the part
/// that it may not have synced is delivered again after each lost connection and each start.
///
/// With Order::live_first, samples that are late become a range of the backlog, and new ones are delivered at once. The
/// backlog is delivered in order, while no new samples wait, with half of the window. A range that exists is delivered
/// as backlog, whatever the order is changed to; with Order::strict, new samples wait for it.
///
/// Threads: status(), keep_from() and activity() any; everything else the reactor's.
/// Limits:  the window of Delivery::Options, and up to half of it and one block of the log for each of the two queues
///          in memory. With Cursor::backlog_max ranges, samples that are late are delivered in order.
/// Failure: nothing fails but the constructor, which throws std::bad_alloc. A connection, a log or a cursor that fails
///          is used again after a while; status() has the reason.
class UplinkRunner {
  public:
    static constexpr std::chrono::milliseconds connect_max{10'000};
    static constexpr std::chrono::milliseconds read_retry{1'000};
    static constexpr std::chrono::milliseconds cursor_interval{1'000};
    static constexpr std::chrono::milliseconds check_interval{10'000};
    static constexpr double catch_up_min = 1'000;                 // entries of the log per second, if it does not grow
    static constexpr std::chrono::milliseconds late_min{10'000};  // age of samples that become a backlog

    enum class Order : std::uint8_t {
        strict,      // that of the log
        live_first,  // new samples are not delayed by late ones
    };

    /// Limits of the rate of sending; 0 means no limit.
    struct Rates {
        double samples_max = 0;  // per second
        double catch_up = 0;     // multiple of the rate at which the log grows
    };

    /// Called when a connection is opened, with the server, and when one ends or fails, with the reason. Not called
    /// again for the same reason.
    struct Notes {
        std::function<void(const std::string& server)> connected;
        std::function<void(const std::string& reason)> failed;
        std::function<void(const std::string& reason)> restarted;  // at the oldest sample
        std::function<void(const std::string& reason)> warned;
    };
    struct Parts {
        Reactor& reactor;
        const Clock& clock;
        store::FileSystem& files;
        std::function<std::unique_ptr<Adapter>(Adapter::Events events)> make_adapter;
        BlockEncoding encoding;
        Notes notes;
    };
    struct Options {
        std::string name;
        std::string log_directory;
        Delivery::Options delivery;
        Quarantine::Limits quarantine = {};
        Rates rates = {};
        std::chrono::milliseconds ack_grace{300'000};
        /// A back end that fails may lose what it had acknowledged this long before its last acknowledgment, so it is
        /// delivered again.
        std::chrono::milliseconds unsynced{0};
        Order order = Order::strict;
        std::uint64_t encoding = 0;  // digest of the settings that determine the messages; 0: unknown
    };
    UplinkRunner(Parts parts, Options options);
    ~UplinkRunner();
    UplinkRunner(const UplinkRunner&) = delete;
    UplinkRunner& operator=(const UplinkRunner&) = delete;

    /// Everything in the log before `position` is synced.
    void log_synced(store::Position position);
    /// Closes the connection and saves the cursor.
    void stop();

    /// Stops sending until resumed, also after a restart. Throws std::system_error if the cursor cannot be saved; then
    /// nothing has changed.
    void pause(bool is_paused);
    /// Delivers again from the beginning of the block at a position. Without `may_store_twice`, not from a position
    /// before UplinkStatus::encoded_from. Throws std::system_error if the log cannot be read or the cursor cannot be
    /// saved; then nothing has changed.
    enum class RewindResult : std::uint8_t { done, no_log, not_delivered, stores_twice };
    [[nodiscard]] RewindResult rewind(const RewindTarget& target, bool may_store_twice = false);
    [[nodiscard]] const std::deque<QuarantinedSample>& quarantined();
    /// Sends the quarantined samples again. Those that are refused again stay in the quarantine.
    void retry_quarantined();
    /// Removes all samples from the quarantine. Throws std::system_error if its file cannot be written.
    void clear_quarantine();

    [[nodiscard]] UplinkStatus status() const {
        const std::lock_guard lock(mutex_);
        return status_;
    }
    /// Returns what the thread is doing, for messages. Threads: any.
    [[nodiscard]] const char* activity() const noexcept { return activity_; }
    /// Returns the position before which everything was delivered at least ack_grace ago, as far as the saved cursor
    /// says. Threads: any.
    [[nodiscard]] store::Position keep_from() const noexcept { return keep_from_; }

  private:
    /// A part of the log that is delivered in order.
    struct SendQueue {
        LogFeed feed;
        Delivery delivery;
        std::string rejection;     // the last reason of a permanent refusal
        MonoTime read_again_at{};  // after a failure
    };
    /// The adapter's number of a message, which has the queue of the message.
    [[nodiscard]] static std::uint64_t number_of(bool is_backlog, std::uint64_t in_queue) noexcept {
        return in_queue * 2 + std::uint64_t{is_backlog};
    }
    [[nodiscard]] SendQueue& queue_of(std::uint64_t number) noexcept { return number % 2 == 0 ? live_ : backlog_; }
    [[nodiscard]] std::array<SendQueue*, 2> queues() noexcept { return {&live_, &backlog_}; }
    [[nodiscard]] SendQueue make_queue(bool is_backlog);

    [[nodiscard]] Adapter::Events events();
    void close(MonoTime now);
    void disconnect(MonoTime now, bool is_refused = false);
    void end_discarded();
    void record_progress(MonoTime now);
    void make_backlog(MonoTime now);
    void start_backlog();
    [[nodiscard]] store::Position lag() const noexcept {
        return extent_.entries(live_.delivery.settled(), synced_) + extent_.entries(ranges_);
    }
    [[nodiscard]] bool is_saved() const { return !log_id_ || (cursor() == saved_ && quarantine_.is_saved()); }
    [[nodiscard]] SendQueue* next_queue(MonoTime now);
    void work();
    void connect_or_close(MonoTime now);
    void fill(SendQueue& queue, MonoTime now);
    void load();
    [[nodiscard]] bool open_log();
    void adopt_stream();
    void replace_rejected(SendQueue& queue);
    void read_again(SendQueue& queue);
    [[nodiscard]] Cursor cursor() const;
    void refill(MonoTime now);
    void send(MonoTime now);
    void save_cursor(MonoTime now);
    void write(Cursor cursor, Receipts receipts);
    void warn_of_repeats();
    void move_back(store::Position position);
    void move_to(Cursor cursor);
    void record_unsynced(MonoTime now);
    void apply_saved();
    void restore(MonoTime now);
    void resend_unsynced(MonoTime now);
    void check(MonoTime now);
    void record_failure(const std::string& reason);
    void set_alarm(MonoTime now);
    void show();

    static constexpr const char* other_activity = "using the connection, or executing a command";

    const Parts parts_;
    const Options options_;
    std::atomic<const char*> activity_{other_activity};
    const std::unique_ptr<Adapter> adapter_;
    CursorFile cursor_file_;
    Quarantine quarantine_;
    SendQueue live_;
    SendQueue backlog_;                 // also sends quarantined samples again
    std::vector<BacklogRange> ranges_;  // of the backlog, in order; the first one is read
    /// Everything before the position was synced at this time, and not all of it is delivered.
    std::pair<MonoTime, store::Position> late_since_{};
    bool is_making_backlog_ = false;  // once nothing new is in flight
    LogExtent extent_;
    std::uint64_t stream_ = 0;          // of the last connection, see BackEnd
    store::Position encoded_from_ = 0;  // see UplinkStatus
    Progress progress_;
    SendingRates rates_;
    Receipts receipts_;
    Place place_at_check_ = 0;  // that was known at the last check
    MonoTime checked_at_{};
    bool has_places_ = false;  // of the last connection, see BackEnd
    /// Cursor::position and Cursor::oldest() in the time `unsynced` before the last acknowledgment.
    Receipts unsynced_;
    Receipts unsynced_oldest_;
    bool has_lost_connection_ = false;
    std::pair<store::Position, BlockPlace> never_sent_{};  // the first entry of a block that never was
    std::atomic<store::Position> keep_from_{0};
    bool is_started_ = false;
    bool is_loaded_ = false;  // the cursor and the quarantine
    bool is_paused_ = false;
    std::optional<store::LogId> log_id_;  // nullopt: the log is not open yet
    store::Position synced_ = 0;
    std::optional<MonoTime> connecting_since_;
    Cursor saved_;  // the last one that was read or written
    MonoTime saved_at_{};
    MonoTime tokens_at_{};  // when the rates allow to send again; MonoTime::max(): they do not prevent it
    Later later_;
    Alarm alarm_;

    mutable std::mutex mutex_;
    UplinkStatus status_;
    UplinkStatus next_status_;  // used by the reactor's thread; becomes status_
};

}  // namespace telegate::uplink
