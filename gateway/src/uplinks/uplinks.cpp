#include "uplinks/uplinks.hpp"

#include "base/whole_file.hpp"
#include "log/log_line.hpp"

#include "config/credential_path.hpp"
#include "core/start_thread.hpp"
#include "store/file_system.hpp"
#include "uplink/reactor_loop.hpp"
#include "uplinks/subject_template.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace telegate {
namespace {

constexpr std::chrono::milliseconds memory_pause{100};  // before continuing after std::bad_alloc
constexpr std::size_t credentials_bytes_max = 16'384;
/// A message is sent again after at most acknowledge_max, retry_max and connect_max.
constexpr std::chrono::seconds resend_max{60};
/// Reads what a connection needs. Files may have been replaced since the last connection.
uplink::AdapterSecrets read_secrets(const UplinkOptions::Files& files) {
    const auto path = [](const std::string& file) {
        return file.empty() ? "" : credential_path(file);
    };
    uplink::AdapterSecrets secrets{path(files.credentials), "", path(files.tls_ca), path(files.tls_certificate),
                                   path(files.tls_key)};
    if (!secrets.credentials_path.empty()) {
        secrets.credentials = read_whole_file(secrets.credentials_path, credentials_bytes_max);
    }
    return secrets;
}

}  // namespace

/// One uplink and its thread.
class Uplinks::One {
  public:
    One(const Parts& parts, const UplinkOptions& options)
        : options_(options),
          clock_(parts.clock),
          log_(parts.log),
          encoder_(parts.tags, options.messages),
          started_utc_ns_(parts.clock.utc_now_ns()),
          runner_(runner_parts(), {options.name, parts.log_directory, options.delivery}) {}
    ~One() { close(); }
    One(const One&) = delete;
    One& operator=(const One&) = delete;

    void start() {
        thread_ = start_thread("tg-up-" + options_.name, [this] { run(); });
    }

    void log_synced(store::Position position) {
        reactor_.post([this, position] { runner_.log_synced(position); });
    }

    void close() {
        if (!thread_.joinable()) {
            return;
        }
        reactor_.post([this] {
            runner_.stop();
            reactor_.stop();
        });
        thread_.join();
    }

    [[nodiscard]] UplinkReport report() const {
        UplinkReport report{options_.name, options_.urls, options_.subject, options_.lag_alarm, runner_.status()};
        if (report.status.is_behind) {
            const std::int64_t since_ns =
                report.status.delivered_utc_ns == 0 ? started_utc_ns_ : report.status.delivered_utc_ns;
            report.lag = std::chrono::nanoseconds(std::max<std::int64_t>(clock_.utc_now_ns() - since_ns, 0));
        }
        return report;
    }

  private:
    [[nodiscard]] uplink::UplinkRunner::Parts runner_parts() {
        const auto make_adapter = [this](uplink::Adapter::Events events) {
            return options_.module->make(loop_, adapter_options(), std::move(events));
        };
        const auto encode = [this](const store::LogBatch& block, std::int64_t end_utc_ns,
                                   std::vector<uplink::OutgoingMessage>& messages) {
            const std::size_t begin = messages.size();
            encoder_.encode(block, end_utc_ns, messages);
            for (std::size_t i = begin; i < messages.size(); ++i) {
                messages[i].subject = options_.subject;
            }
        };
        return {reactor_, clock_, store::real_file_system(), make_adapter, encode, notes()};
    }

    [[nodiscard]] uplink::AdapterOptions adapter_options() {
        uplink::AdapterOptions options;
        options.urls = options_.urls;
        options.subjects = SubjectTemplate(options_.subject).pattern();
        options.client_name = "telegate " + options_.name;
        options.tls_server_name = options_.tls_server_name;
        options.headers = {{"Telegate-Format", options_.format}, {"Telegate-Gateway", gateway_word()}};
        options.message_bytes_max = options_.messages.bytes_max;
        options.resend_max = resend_max;
        options.secrets = [this] {
            return read_secrets(options_.files);
        };
        options.warn = [this](const std::string& text) {
            log_.warn_limited(options_.name + " warning",
                              LogLine("uplink warning").add("uplink", options_.name).quote("reason", text));
        };
        return options;
    }

    [[nodiscard]] uplink::UplinkRunner::Notes notes() {
        const auto line = [this](const char* text) {
            return LogLine(text).add("uplink", options_.name);
        };
        return {
            [this, line](const std::string& server) { log_.info_each(line("uplink connected").add("server", server)); },
            [this, line](const std::string& reason) {
                log_.warn_limited(options_.name, line("uplink failed").quote("reason", reason));
            },
            [this, line](const std::string& reason) {
                log_.warn(line("uplink restarts at the oldest sample").quote("reason", reason));
            }};
    }

    /// Runs the reactor. If a call runs out of memory, only that call fails and the loop continues.
    void run() {
        bool is_short = false;
        for (bool is_over = false; !is_over;) {
            try {
                if (is_short) {
                    reactor_.run_for(memory_pause);
                    log_.warn_limited("out of memory", LogLine("out of memory").add("uplink", options_.name));
                    is_short = false;
                }
                reactor_.run();
                is_over = true;
            } catch (const std::bad_alloc&) {
                is_short = true;
            }
        }
    }

    const UplinkOptions options_;
    const Clock& clock_;
    Log& log_;
    BlockJson encoder_;
    const std::int64_t started_utc_ns_;
    Reactor reactor_;
    uplink::ReactorLoop loop_{reactor_};
    uplink::UplinkRunner runner_;
    std::thread thread_;
};

Uplinks::Uplinks(const Parts& parts, const std::vector<UplinkOptions>& options) {
    for (const UplinkOptions& each : options) {
        all_.push_back(std::make_unique<One>(parts, each));
    }
}

Uplinks::~Uplinks() = default;

void Uplinks::start() {
    for (const auto& each : all_) {
        each->start();
    }
}

void Uplinks::log_synced(store::Position position) {
    for (const auto& each : all_) {
        each->log_synced(position);
    }
}

void Uplinks::close() {
    for (const auto& each : all_) {
        each->close();
    }
}

std::vector<UplinkReport> Uplinks::status() const {
    std::vector<UplinkReport> reports;
    for (const auto& each : all_) {
        reports.push_back(each->report());
    }
    return reports;
}

}  // namespace telegate
