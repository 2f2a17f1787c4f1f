#pragma once

#include "encode/tags.hpp"
#include "log/log.hpp"
#include "uplinks/block_json.hpp"

#include "core/clock.hpp"
#include "core/reactor.hpp"
#include "store/segment_format.hpp"
#include "uplink/adapter_module.hpp"
#include "uplink/uplink_runner.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace telegate {

/// The settings of an [uplink] section.
struct UplinkOptions {
    std::string name;
    const uplink::AdapterModule* module = nullptr;
    std::vector<std::string> urls;
    std::string subject;  // see SubjectTemplate
    /// As in the settings; "": none.
    struct Files {
        std::string credentials;
        std::string tls_ca;
        std::string tls_certificate;
        std::string tls_key;
    } files;
    std::string tls_server_name;
    std::string format;
    BlockJson::Options messages;
    uplink::Delivery::Options delivery;
    std::chrono::milliseconds lag_alarm{60'000};
};

/// The state of an uplink and what an operator needs to understand it.
struct UplinkReport {
    std::string name;
    std::vector<std::string> urls;
    std::string subject;
    std::chrono::milliseconds lag_alarm{0};
    uplink::UplinkStatus status;
    /// Age of the newest sample before which everything is delivered; 0 if nothing waits to be delivered.
    std::chrono::nanoseconds lag{0};

    [[nodiscard]] bool is_late() const noexcept { return lag > lag_alarm; }
};

/// All uplinks. Each delivers the durable log on its own thread (tg-up-NAME), so a back end that is slow or away delays
/// neither publishing nor another uplink.
///
/// Threads: log_synced(), status(): any. start(), close(): one.
/// Limits:  one thread per uplink, and UplinkRunner's memory.
/// Failure: start() throws std::system_error if a thread cannot be created. Everything else is reported by status() and
///          the log lines.
class Uplinks {
  public:
    struct Parts {
        const Clock& clock;
        Log& log;
        std::string log_directory;
        Tags tags;
    };
    Uplinks(const Parts& parts, const std::vector<UplinkOptions>& options);
    ~Uplinks();
    Uplinks(const Uplinks&) = delete;
    Uplinks& operator=(const Uplinks&) = delete;

    void start();
    /// Everything in the log before `position` is synced.
    void log_synced(store::Position position);
    /// Saves the cursors and ends the threads.
    void close();

    /// In the order of the settings.
    [[nodiscard]] std::vector<UplinkReport> status() const;

  private:
    class One;

    std::vector<std::unique_ptr<One>> all_;
};

}  // namespace telegate
