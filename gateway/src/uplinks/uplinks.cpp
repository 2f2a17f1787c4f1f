#include "uplinks/uplinks.hpp"

#include "base/call_on_reactor.hpp"
#include "base/whole_file.hpp"
#include "log/log_line.hpp"

#include "config/credential_path.hpp"
#include "core/start_thread.hpp"
#include "store/file_system.hpp"

#include <algorithm>
#include <new>
#include <random>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

constexpr std::chrono::milliseconds memory_pause{100};  // before continuing after std::bad_alloc
constexpr std::size_t credentials_bytes_max = 4'096;
constexpr std::string_view white = " \t\r\n";

/// Removes and returns the first word.
std::string take_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(white), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(white));
    text.remove_prefix(word.size());
    return std::string(word);
}

/// Reads a file with a token, or with a user and a password.
uplink::NatsCredentials read_credentials(const std::string& file) {
    uplink::NatsCredentials credentials;
    if (file.empty()) {
        return credentials;
    }
    const std::string path = credential_path(file);
    const std::string content = read_whole_file(path, credentials_bytes_max);
    std::string_view rest = content;
    std::string first = take_word(rest);
    credentials.password = take_word(rest);
    if (first.empty() || !take_word(rest).empty()) {
        throw std::runtime_error("invalid credentials in " + path + ": must be TOKEN, or USER PASSWORD");
    }
    (credentials.password.empty() ? credentials.token : credentials.user) = std::move(first);
    return credentials;
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
          runner_(runner_parts(), runner_options(parts.log_directory, options)) {}
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

    [[nodiscard]] const std::string& name() const noexcept { return options_.name; }
    [[nodiscard]] store::Position keep_from() const { return runner_.keep_from(); }
    /// Runs a command on the thread. Returns false if it does not start in time.
    template <class Command>
    [[nodiscard]] bool call(Command command) {
        return call_on_reactor(
            reactor_, [this, &command] { command(runner_); }, command_max);
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
    [[nodiscard]] static uplink::UplinkRunner::Options runner_options(const std::string& log_directory,
                                                                      const UplinkOptions& options) {
        uplink::UplinkRunner::Options result{options.name, log_directory, options.delivery};
        result.delivery.seed = std::random_device()();  // gateways with the same settings do not retry together
        result.rates = options.rates;
        result.ack_grace = options.ack_grace;
        return result;
    }
    [[nodiscard]] uplink::UplinkRunner::Parts runner_parts() {
        const auto make_adapter = [this](uplink::Adapter::Events events) {
            return std::make_unique<uplink::JetStreamAdapter>(
                reactor_,
                uplink::JetStreamAdapter::Options{options_.servers, options_.subject, "telegate " + options_.name,
                                                  [this] {
                                                      return read_credentials(options_.credentials_file);
                                                  }},
                std::move(events));
        };
        const auto encode = [this](const store::LogBatch& block, std::int64_t end_utc_ns,
                                   std::vector<uplink::OutgoingMessage>& messages) {
            encoder_.encode(block, end_utc_ns, messages);
        };
        return {reactor_, clock_, store::real_file_system(), make_adapter, encode, notes()};
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

store::Position Uplinks::keep_from() const {
    store::Position position = store::position_max;
    for (const auto& each : all_) {
        position = std::min(position, each->keep_from());
    }
    return position;
}

void Uplinks::close() {
    for (const auto& each : all_) {
        each->close();
    }
}

template <class Command>
UplinkResult Uplinks::call(std::string_view name, Command command) {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& each) { return each->name() == name; });
    if (found == all_.end()) {
        return UplinkResult::no_uplink;
    }
    return (*found)->call(command) ? UplinkResult::done : UplinkResult::late;
}

UplinkResult Uplinks::pause(std::string_view name, bool is_paused) {
    return call(name, [is_paused](uplink::UplinkRunner& runner) { runner.pause(is_paused); });
}

UplinkResult Uplinks::rewind(std::string_view name, const uplink::RewindTarget& target) {
    using Result = uplink::UplinkRunner::RewindResult;
    Result rewound = Result::done;
    const UplinkResult called = call(name, [&](uplink::UplinkRunner& runner) { rewound = runner.rewind(target); });
    if (called != UplinkResult::done || rewound == Result::done) {
        return called;
    }
    return rewound == Result::no_log ? UplinkResult::no_log : UplinkResult::not_delivered;
}

UplinkResult Uplinks::quarantined(std::string_view name, std::vector<uplink::QuarantinedSample>& samples) {
    return call(name, [&](uplink::UplinkRunner& runner) {
        const auto& all = runner.quarantined();
        samples.assign(all.begin(), all.end());
    });
}

UplinkResult Uplinks::retry_quarantined(std::string_view name) {
    return call(name, [](uplink::UplinkRunner& runner) { runner.retry_quarantined(); });
}

UplinkResult Uplinks::clear_quarantine(std::string_view name) {
    return call(name, [](uplink::UplinkRunner& runner) { runner.clear_quarantine(); });
}

std::vector<UplinkReport> Uplinks::status() const {
    std::vector<UplinkReport> reports;
    for (const auto& each : all_) {
        reports.push_back(each->report());
    }
    return reports;
}

}  // namespace telegate
