#pragma once

#include "encode/tags.hpp"
#include "log/log.hpp"
#include "uplinks/message_encoder.hpp"

#include "core/clock.hpp"
#include "core/reactor.hpp"
#include "store/segment_format.hpp"
#include "uplink/adapter_module.hpp"
#include "uplink/uplink_runner.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The settings of an [uplink] section.
struct UplinkOptions {
    uplink::UplinkRunner::Options runner;  // Uplinks sets the directory of the log and the seed
    const uplink::AdapterModule* module = nullptr;
    std::vector<std::string> urls;
    uplink::AdapterSecrets files;  // paths as in the settings
    std::string tls_server_name;
    MessageEncoder::Options messages;
    std::chrono::milliseconds lag_alarm{60'000};
};

/// The state of an uplink and what an operator needs to understand it.
struct UplinkReport {
    std::string name;
    std::vector<std::string> urls;
    std::string subject;
    std::chrono::milliseconds lag_alarm{0};
    uplink::UplinkStatus status;
    /// Age of the newest sample before which everything but the backlog is delivered; 0 if nothing else waits.
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
};

/// All uplinks. Each delivers the durable log on its own thread (tg-up-NAME), so a back end that is slow or away delays
/// neither publishing nor another uplink.
///
/// Threads: log_synced(), status() and call(): any. start(), change(), close(): any, one at a time.
/// Limits:  one thread per uplink, and UplinkRunner's memory. change() and close() wait for the uplinks that end, of
///          which each may be opening a connection.
/// Failure: start() throws std::system_error if a thread cannot be created; change() logs it, and the uplink is omitted
///          until the next change. Everything else is reported by status() and the log lines.
class Uplinks {
  public:
    struct Parts {
        const Clock& clock;
        Log& log;
        std::string log_directory;
        Tags tags;
    };
    Uplinks(Parts parts, const std::vector<UplinkOptions>& options);
    ~Uplinks();
    Uplinks(const Uplinks&) = delete;
    Uplinks& operator=(const Uplinks&) = delete;

    void start();
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

    /// In the order of the settings.
    [[nodiscard]] std::vector<UplinkReport> status() const;

    static constexpr std::chrono::milliseconds command_max{3'000};  // an uplink may be opening a connection
    using Command = std::function<UplinkResult(uplink::UplinkRunner& runner)>;
    /// Runs a command on the thread of an uplink, for which it waits at most command_max. Throws what the command
    /// throws. Threads: any but those of the uplinks.
    [[nodiscard]] UplinkResult call(std::string_view name, const Command& command);

  private:
    class One;
    using List = std::vector<std::shared_ptr<One>>;

    [[nodiscard]] List list() const;
    void set(List list);
    static void end(const List& list);
    [[nodiscard]] std::shared_ptr<One> make(const UplinkOptions& options);

    const Parts parts_;
    std::atomic<store::Position> synced_{0};
    mutable std::mutex mutex_;  // guards list_
    List list_;
};

}  // namespace telegate
