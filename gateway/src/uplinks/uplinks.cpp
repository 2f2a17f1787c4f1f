#include "uplinks/uplinks.hpp"

#include "base/call_on_reactor.hpp"
#include "base/whole_file.hpp"
#include "log/log_line.hpp"

#include "config/credential_path.hpp"
#include "core/start_thread.hpp"
#include "store/file_system.hpp"
#include "uplink/reactor_loop.hpp"
#include "uplinks/block_messages.hpp"
#include "uplinks/subject_template.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <random>
#include <thread>
#include <utility>

namespace telegate {
namespace {

constexpr std::chrono::milliseconds memory_pause{100};  // before continuing after std::bad_alloc
constexpr std::size_t credentials_bytes_max = 16'384;
/// A message is sent again after at most acknowledge_max, retry_max and connect_max.
constexpr std::chrono::seconds resend_max{60};
/// Reads what a connection needs. Files may have been replaced since the last connection.
uplink::AdapterSecrets read_secrets(uplink::AdapterSecrets files) {
    for (std::string* const path : {&files.credentials_path, &files.tls_ca, &files.tls_certificate, &files.tls_key}) {
        *path = path->empty() ? "" : credential_path(*path);
    }
    if (!files.credentials_path.empty()) {
        files.credentials = read_whole_file(files.credentials_path, credentials_bytes_max);
    }
    return files;
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
          blocks_(SubjectTemplate(options.messages.subject).subject("", ""), options.messages.bytes_max),
          started_utc_ns_(parts.clock.utc_now_ns()),
          runner_(runner_parts(), runner_options(parts.log_directory, options.runner)) {}
    ~One() {
        if (thread_.joinable()) {
            begin_close();
            close();
        }
    }
    One(const One&) = delete;
    One& operator=(const One&) = delete;

    void start() {
        thread_ = start_thread("tg-up-" + options_.runner.name, [this] { run(); });
    }

    void log_synced(store::Position position) {
        reactor_.post([this, position] { runner_.log_synced(position); });
    }

    void begin_close() {
        reactor_.post([this] {
            runner_.stop();
            reactor_.stop();
        });
    }
    /// Waits for the end.
    void close() {
        if (thread_.joinable()) {
            thread_.join();
        }
    }

    [[nodiscard]] const std::string& name() const noexcept { return options_.runner.name; }
    [[nodiscard]] store::Position keep_from() const { return runner_.keep_from(); }
    [[nodiscard]] UplinkResult call(const Command& command) {
        UplinkResult result = UplinkResult::late;  // stays so if the call does not start in time
        (void)call_on_reactor(
            reactor_, [&] { result = command(runner_); }, command_max);
        return result;
    }

    [[nodiscard]] UplinkReport report() const {
        UplinkReport report{options_.runner.name, options_.urls, options_.messages.subject, options_.lag_alarm,
                            runner_.status()};
        if (report.status.is_behind) {
            const std::int64_t since_ns =
                report.status.delivered_utc_ns == 0 ? started_utc_ns_ : report.status.delivered_utc_ns;
            report.lag = std::chrono::nanoseconds(std::max<std::int64_t>(clock_.utc_now_ns() - since_ns, 0));
        }
        return report;
    }

  private:
    [[nodiscard]] static uplink::UplinkRunner::Options runner_options(const std::string& log_directory,
                                                                      uplink::UplinkRunner::Options options) {
        options.log_directory = log_directory;
        options.delivery.seed = std::random_device()();  // gateways with the same settings do not retry together
        return options;
    }
    [[nodiscard]] uplink::UplinkRunner::Parts runner_parts() {
        const auto make_adapter = [this](uplink::Adapter::Events events) {
            return options_.module->make(loop_, adapter_options(), std::move(events));
        };
        return {reactor_, clock_, store::real_file_system(), make_adapter, encoding(), notes()};
    }

    [[nodiscard]] uplink::BlockEncoding encoding() {
        using Messages = std::vector<uplink::OutgoingMessage>;
        const bool is_block = options_.messages.format == MessageFormat::block;
        uplink::BlockEncoding result;
        result.format = to_string(options_.messages.format);
        result.encode = [this, is_block](const store::LogBatch& block, std::int64_t end_utc_ns, Messages& messages) {
            if (is_block) {
                blocks_.encode(block, messages);
            } else {
                encoder_.encode(block, end_utc_ns, messages);
            }
        };
        if (is_block) {
            result.pass_on = [this](const store::LogBatch& block, Messages& messages) {
                return blocks_.pass_on(block, messages);
            };
        } else {
            result.arrange = [this](store::LogBatch& block) {
                encoder_.arrange(block);
            };
        }
        return result;
    }

    [[nodiscard]] uplink::AdapterOptions adapter_options() {
        uplink::AdapterOptions options;
        options.urls = options_.urls;
        options.subjects = SubjectTemplate(options_.messages.subject).pattern();
        options.client_name = "telegate " + options_.runner.name;
        options.tls_server_name = options_.tls_server_name;
        options.headers = {{"Telegate-Gateway", gateway_word()}};
        options.message_bytes_max = options_.messages.bytes_max;
        options.resend_max = resend_max;
        options.secrets = [this] {
            return read_secrets(options_.files);
        };
        options.warn = [this](const std::string& text) {
            log_.warn_limited(options_.runner.name + " warning",
                              LogLine("uplink warning").add("uplink", options_.runner.name).quote("reason", text));
        };
        return options;
    }

    [[nodiscard]] uplink::UplinkRunner::Notes notes() {
        const auto line = [this](const char* text) {
            return LogLine(text).add("uplink", options_.runner.name);
        };
        return {
            [this, line](const std::string& server) { log_.info_each(line("uplink connected").add("server", server)); },
            [this, line](const std::string& reason) {
                log_.warn_limited(options_.runner.name, line("uplink failed").quote("reason", reason));
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
                    log_.warn_limited("out of memory", LogLine("out of memory").add("uplink", options_.runner.name));
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
    MessageEncoder encoder_;
    BlockMessages blocks_;
    const std::int64_t started_utc_ns_;
    Reactor reactor_;
    uplink::ReactorLoop loop_{reactor_};
    uplink::UplinkRunner runner_;
    std::thread thread_;
};

Uplinks::Uplinks(Parts parts, const std::vector<UplinkOptions>& options) : parts_(std::move(parts)) {
    for (const UplinkOptions& each : options) {
        list_.push_back(std::make_shared<One>(parts_, each));
    }
}

Uplinks::~Uplinks() = default;

Uplinks::List Uplinks::list() const {
    const std::lock_guard lock(mutex_);
    return list_;
}

void Uplinks::set(List list) {
    const std::lock_guard lock(mutex_);
    list_.swap(list);
}

void Uplinks::start() {
    for (const auto& each : list()) {
        each->start();
    }
}

/// Returns null if the uplink cannot be started.
std::shared_ptr<Uplinks::One> Uplinks::make(const UplinkOptions& options) {
    try {
        auto one = std::make_shared<One>(parts_, options);
        one->start();
        return one;
    } catch (const std::exception& error) {
        parts_.log.error(
            LogLine("uplink cannot be started").add("uplink", options.runner.name).quote("reason", error.what()));
        return nullptr;
    }
}

void Uplinks::change(const std::vector<UplinkOptions>& wanted,
                     const std::function<bool(const std::string& name)>& has_changed) {
    List kept;
    List ended;
    for (const auto& each : list()) {
        const bool is_wanted = std::any_of(wanted.begin(), wanted.end(), [&](const UplinkOptions& options) {
            return options.runner.name == each->name();
        });
        (is_wanted && !has_changed(each->name()) ? kept : ended).push_back(each);
    }
    end(ended);  // before others use their cursors; until then, they are in the list, and keep_from() regards them
    List after;
    for (const UplinkOptions& options : wanted) {
        const auto found = std::find_if(kept.begin(), kept.end(),
                                        [&](const auto& each) { return each->name() == options.runner.name; });
        if (auto one = found != kept.end() ? *found : make(options); one != nullptr) {
            after.push_back(std::move(one));
        }
    }
    set(after);
    for (const auto& each : after) {  // new ones do not know it
        each->log_synced(synced_);
    }
}

void Uplinks::log_synced(store::Position position) {
    synced_ = position;
    for (const auto& each : list()) {
        each->log_synced(position);
    }
}

store::Position Uplinks::keep_from() const {
    store::Position position = store::position_max;
    for (const auto& each : list()) {
        position = std::min(position, each->keep_from());
    }
    return position;
}

void Uplinks::close() {
    end(list());
}

/// Ends all of them at the same time, because each may take a while.
void Uplinks::end(const List& list) {
    for (const auto& each : list) {
        each->begin_close();
    }
    for (const auto& each : list) {
        each->close();
    }
}

UplinkResult Uplinks::call(std::string_view name, const Command& command) {
    const List all = list();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each->name() == name; });
    return found == all.end() ? UplinkResult::no_uplink : (*found)->call(command);
}

std::vector<UplinkReport> Uplinks::status() const {
    std::vector<UplinkReport> reports;
    for (const auto& each : list()) {
        reports.push_back(each->report());
    }
    return reports;
}

}  // namespace telegate
