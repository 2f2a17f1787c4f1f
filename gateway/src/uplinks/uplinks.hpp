#pragma once

#include "encode/labels.hpp"
#include "log/log.hpp"
#include "uplinks/message_encoder.hpp"

#include "core/clock.hpp"
#include "core/reactor.hpp"
#include "store/segment_format.hpp"
#include "uplink/adapter_module.hpp"
#include "uplink/uplink_row.hpp"
#include "uplink/uplink_runner.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// The settings of an [uplink] section.
struct UplinkOptions {
    uplink::UplinkRunner::Options runner;  // Uplinks sets the directory of the log and the seed
    std::string type_name;
    const uplink::AdapterModule* module = nullptr;
    std::vector<std::string> urls;
    uplink::AdapterSecrets files;  // paths as in the settings
    std::string tls_server_name;
    MessageEncoder::Options messages;
    uplink::UplinkTypePlan type;
    std::chrono::milliseconds lag_alarm{60'000};
};

/// The state of an uplink and what an operator needs to understand it.
struct UplinkReport {
    std::string name;
    std::vector<std::string> urls;
    std::string type;
    std::string target;  // where the back end stores the messages
    std::chrono::milliseconds lag_alarm{0};
    uplink::UplinkStatus status;
    /// Age of the newest sample before which everything but the backlog is delivered, or the time for which the next
    /// ones have waited, if that is longer; 0 if nothing else waits.
    std::chrono::nanoseconds lag{0};

    [[nodiscard]] bool is_late() const noexcept { return lag > lag_alarm; }
};

/// The result of a command to an uplink.
enum class UplinkResult : std::uint8_t {
    done,
    no_uplink,      // there is none with this name
    late,           // no response in time
    no_log,         // the log is not open yet
    not_delivered,  // the data at this position is not delivered yet
    stores_twice,   // the command has to be confirmed
};

/// All uplinks. Each delivers the durable log on its own thread (tg-up-NAME), so a back end that is slow or away delays
/// neither publishing nor another uplink.
///
/// Threads: log_synced(), status() and call(): any. start(), set_labels(), change(), close(): any, one at a time.
/// Limits:  one thread per uplink, and UplinkRunner's memory. change() and close() wait at most Parts::stop_max. A
///          thread that does not end by then, for example because a disk does not respond, is abandoned: there is at
///          most one for each name, because its successor does nothing until it ends.
/// Failure: start() throws std::system_error if a thread cannot be created; change() logs it, and the uplink is omitted
///          until the next change. Everything else is reported by status() and the log lines. While has_abandoned()
///          returns true, the clock and the log are in use and must not be destroyed.
class Uplinks {
  public:
    struct Parts {
        const Clock& clock;
        Log& log;
        std::string log_directory;
        SharedLabels labels;
        /// The sync of a busy disk takes seconds. Less than TimeoutStopSec of the service.
        std::chrono::milliseconds stop_max{5'000};
    };
    Uplinks(Parts parts, const std::vector<UplinkOptions>& options);
    ~Uplinks();
    Uplinks(const Uplinks&) = delete;
    Uplinks& operator=(const Uplinks&) = delete;

    void start();
    /// Sets the labels of the uplinks that change() creates.
    void set_labels(SharedLabels labels) { parts_.labels = std::move(labels); }
    /// Replaces the uplinks. Those that exist and for which `has_changed` returns false continue; the others end, and
    /// continue with the new options where they have stopped.
    void change(const std::vector<UplinkOptions>& wanted,
                const std::function<bool(const std::string& name)>& has_changed);
    /// Everything in the log before `position` is synced.
    void log_synced(store::Position position);
    /// Returns the position before which no uplink needs the log; position_max: there is no uplink. During change(),
    /// this includes the uplinks that are replaced. Threads: any.
    [[nodiscard]] store::Position keep_from() const;
    /// Saves the cursors and ends the threads.
    void close();
    /// Returns whether abandoned threads have not ended yet, and how many were abandoned since the start. Threads: any.
    [[nodiscard]] bool has_abandoned() const;
    [[nodiscard]] std::uint64_t abandoned_count() const;

    /// In the order of the settings.
    [[nodiscard]] std::vector<UplinkReport> status() const;

    static constexpr std::chrono::milliseconds command_max{3'000};  // an uplink may be opening a connection
    using Command = std::function<UplinkResult(uplink::UplinkRunner& runner)>;
    /// Runs a command on the thread of an uplink. Waits at most command_max for its start, and as long for its end;
    /// after UplinkResult::late, the command may still run, so it must own what it uses. Throws what the command
    /// throws. Threads: any but those of the uplinks.
    [[nodiscard]] UplinkResult call(std::string_view name, const Command& command);

  private:
    class One;
    using List = std::vector<std::shared_ptr<One>>;
    using End = std::shared_future<void>;  // of a thread; one that is not valid: there was no thread

    [[nodiscard]] static bool has_ended(const End& end);
    [[nodiscard]] End abandoned_end(const std::string& name) const;

    [[nodiscard]] List list() const;
    void set(List list);
    void end(const List& list);
    [[nodiscard]] std::shared_ptr<One> make(const UplinkOptions& options);

    Parts parts_;
    std::atomic<store::Position> synced_{0};
    mutable std::mutex mutex_;  // guards the members below
    List list_;
    std::map<std::string, End> abandoned_;  // by name, the last thread of each
    std::uint64_t abandoned_count_ = 0;
};

}  // namespace telegate
