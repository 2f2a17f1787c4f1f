#pragma once

#include "uplink/adapter.hpp"
#include "uplink/cursor_file.hpp"
#include "uplink/delivery.hpp"

#include "core/clock.hpp"
#include "core/reactor.hpp"
#include "core/watch.hpp"
#include "store/file_system.hpp"
#include "store/log_reader.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace telegate::uplink {

/// The state of an uplink at one moment.
struct UplinkStatus {
    bool is_connected = false;
    DeliveryState state = DeliveryState::down;
    std::string server;           // of the last connection; "": none yet
    std::string error;            // why nothing is delivered now; "": no failure since the last acknowledgment
    std::string cursor_error;     // why the cursor cannot be saved; "": it can
    store::Position settled = 0;  // everything before it is delivered
    bool is_behind = false;       // something that is synced is not delivered
    std::int64_t delivered_utc_ns = 0;
    std::uint64_t connections = 0;  // since the start
    DeliveryLedger ledger;
    DeliveryCounts counts;
};

/// Delivers a durable log to a back end, from the position at which the last process ended. It reads the log block by
/// block, so its memory does not grow with the backlog, and reads only what is synced: what it delivers cannot be
/// missing from the log after a power failure.
///
/// Threads: status() any; everything else the reactor's.
/// Limits:  Delivery's, and one block of the log in memory.
/// Failure: nothing fails but the constructor and start(), which throw std::bad_alloc. A connection, a log or a cursor
///          that fails is used again after a while; status() has the reason.
class UplinkRunner {
  public:
    static constexpr std::chrono::milliseconds connect_max{10'000};
    static constexpr std::chrono::milliseconds read_retry{1'000};
    static constexpr std::chrono::milliseconds cursor_interval{1'000};

    /// Appends the samples and gaps of a block, or of a part of one, as messages, in order. Sets the payload, the
    /// counts, the time and `begin` of each. A gap has the time of the next sample or, if there is none, `end_utc_ns`.
    using EncodeBlock = std::function<void(const store::LogBatch& batch, std::int64_t end_utc_ns,
                                           std::vector<OutgoingMessage>& messages)>;
    /// Called when a connection is opened, with the server, and when one ends or fails, with the reason. Not called
    /// again for the same reason.
    struct Notes {
        std::function<void(const std::string& server)> connected;
        std::function<void(const std::string& reason)> failed;
        std::function<void(const std::string& reason)> restarted;  // the cursor cannot be used
    };
    struct Parts {
        Reactor& reactor;
        const Clock& clock;
        store::FileSystem& files;
        std::function<std::unique_ptr<Adapter>(Adapter::Events events)> make_adapter;
        EncodeBlock encode;
        Notes notes;
    };
    struct Options {
        std::string name;
        std::string log_directory;
        Delivery::Options delivery;
    };
    UplinkRunner(Parts parts, Options options);
    ~UplinkRunner();
    UplinkRunner(const UplinkRunner&) = delete;
    UplinkRunner& operator=(const UplinkRunner&) = delete;

    /// Everything in the log before `position` is synced.
    void log_synced(store::Position position);
    /// Closes the connection and saves the cursor.
    void stop();

    [[nodiscard]] UplinkStatus status() const;

  private:
    [[nodiscard]] Adapter::Events events();
    void work();
    void connect_or_close(MonoTime now);
    void fill(MonoTime now);
    [[nodiscard]] bool open_log();
    [[nodiscard]] bool read_block();
    void encode_block();
    void send(MonoTime now);
    void save_cursor(MonoTime now);
    void note_failure(const std::string& reason);
    void set_alarm(MonoTime now);
    void show();

    const Parts parts_;
    const Options options_;
    const std::unique_ptr<Adapter> adapter_;
    CursorFile cursor_file_;
    store::LogReader reader_;
    Delivery delivery_;
    std::optional<store::LogId> log_id_;  // nullopt: the log is not open yet
    store::LogBatch batch_;
    bool has_batch_ = false;                // read, but not encoded, because it is not synced
    std::vector<OutgoingMessage> encoded_;  // memory that encode_block() reuses
    std::deque<OutgoingMessage> outgoing_;  // of the block, not handed to delivery_ yet
    store::Position synced_ = 0;
    store::Position read_to_end_at_ = 0;  // synced_ when the log had nothing more
    MonoTime read_again_at_{};            // after a failure
    std::optional<MonoTime> connecting_since_;
    store::Position saved_ = 0;
    MonoTime saved_at_{};
    Later later_;
    Alarm alarm_;

    mutable std::mutex mutex_;
    UplinkStatus status_;
    UplinkStatus next_status_;  // used by the reactor's thread; becomes status_
};

}  // namespace telegate::uplink
