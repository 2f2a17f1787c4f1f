#include "uplinks/uplinks.hpp"

#include "base/whole_file.hpp"
#include "log/log_line.hpp"

#include "config/credential_path.hpp"
#include "config/joined.hpp"
#include "core/start_thread.hpp"
#include "store/file_system.hpp"
#include "uplink/adapter.hpp"
#include "uplink/reactor_loop.hpp"
#include "uplink/subject_template.hpp"
#include "uplinks/block_messages.hpp"

#include <algorithm>
#include <exception>
#include <future>
#include <random>
#include <thread>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t secret_bytes_max = 4'194'304;  // all certificates of a system are 220 KB
/// A message is sent again after at most acknowledge_max, retry_max and connect_max.
constexpr std::chrono::seconds resend_max{60};

/// Reads what a connection needs. Files may have been replaced since the last connection, also by ones that block.
uplink::AdapterSecrets read_secrets(uplink::AdapterSecrets files) {
    for (uplink::AdapterFile* const file :
         {&files.credentials, &files.tls_ca, &files.tls_certificate, &files.tls_key}) {
        if (!file->path.empty()) {
            file->path = credential_path(file->path);
            file->content = read_whole_file(file->path, secret_bytes_max);
        }
    }
    return files;
}

/// Returns a digest of what the ids of messages depend on besides the log.
std::uint64_t encoding_digest(const SharedLabels& labels, const UplinkOptions& options) {
    const MessageEncoder::Options& messages = options.messages;
    std::string text;
    for (const std::string& part :
         {options.type.format ? std::string(to_string(*options.type.format)) : options.type.encoding, messages.subject,
          std::to_string(messages.samples_max), std::to_string(messages.bytes_max), joined(messages.topics, ",")}) {
        text += part + '\n';
    }
    text += labels == nullptr ? "" : labels->tags_text();
    const bool has_gateway = !options.type.format || messages.subject.find("{gateway}") != std::string::npos;
    text += has_gateway ? gateway_of(labels) : "";
    return uplink::digest_of(text);
}

}  // namespace

/// One uplink and its thread, which owns the uplink too: it may be abandoned. `previous`: the end of an abandoned
/// thread that uses the same files; until then, this uplink does nothing.
class Uplinks::One : public std::enable_shared_from_this<One> {
  public:
    One(const Parts& parts, const UplinkOptions& options, End previous)
        : options_(options),
          previous_(std::move(previous)),
          clock_(parts.clock),
          log_(parts.log),
          labels_(parts.labels),
          encoder_(labels_, message_options()),
          blocks_(SubjectTemplate(options.messages.subject, gateway_of(labels_)).subject("", ""),
                  options.messages.bytes_max),
          runner_(runner_parts(), runner_options(parts, options)) {}
    ~One() = default;
    One(const One&) = delete;
    One& operator=(const One&) = delete;

    void start() {
        thread_ = start_thread("tg-up-" + options_.runner.name, [self = shared_from_this()]() mutable {
            self->reactor_.run();
            std::promise<void> ended = std::move(self->ended_);
            self.reset();  // first: after the end, an abandoned thread uses nothing
            ended.set_value();
        });
    }

    void log_synced(store::Position position) {
        reactor_.post([this, position] {
            if (has_ended(previous_)) {
                runner_.log_synced(position);
            }
        });
    }

    void begin_close() {
        reactor_.post([this] {
            runner_.stop();
            reactor_.stop();
        });
    }
    /// Waits for the end. Returns false if the thread has not ended at the deadline; it is then abandoned.
    [[nodiscard]] bool close(MonoTime deadline) {
        if (!thread_.joinable()) {
            return true;
        }
        if (end_.wait_until(deadline) == std::future_status::ready) {
            thread_.join();
            return true;
        }
        log_.error(LogLine("uplink abandoned: its thread did not stop")
                       .add("uplink", name())
                       .quote("activity", runner_.activity()));
        thread_.detach();
        return false;
    }
    [[nodiscard]] const End& end() const noexcept { return end_; }

    [[nodiscard]] const std::string& name() const noexcept { return options_.runner.name; }
    [[nodiscard]] store::Position keep_from() const { return runner_.keep_from(); }
    [[nodiscard]] UplinkResult call(const Command& command) {
        /// Belongs to both threads, because the command may take longer than the caller waits.
        struct Call {
            std::packaged_task<UplinkResult(uplink::UplinkRunner&)> task;
            std::atomic<bool> is_taken{false};  // by the thread that runs it, or the one that cancels it
        };
        const auto call = std::make_shared<Call>();
        call->task = std::packaged_task<UplinkResult(uplink::UplinkRunner&)>(command);
        auto result = call->task.get_future();
        reactor_.post([this, call] {
            if (has_ended(previous_) && !call->is_taken.exchange(true)) {
                call->task(runner_);
            }
        });
        const auto is_late = [&] {
            return result.wait_for(command_max) != std::future_status::ready;
        };
        return is_late() && (!call->is_taken.exchange(true) || is_late()) ? UplinkResult::late : result.get();
    }

    [[nodiscard]] UplinkReport report() const {
        UplinkReport report{options_.runner.name, options_.urls,      options_.type_name,
                            options_.type.target, options_.lag_alarm, runner_.status()};
        if (report.status.is_behind) {
            const uplink::UplinkStatus& status = report.status;
            const std::int64_t utc_ns = status.delivered_utc_ns != 0 ? status.delivered_utc_ns : status.waiting_utc_ns;
            const std::chrono::nanoseconds age(utc_ns != 0 ? clock_.utc_now_ns() - utc_ns : 0);
            report.lag = std::max<std::chrono::nanoseconds>(age, clock_.mono_now() - status.waiting_since);
        }
        if (!has_ended(previous_)) {
            report.status.error = "waits for the end of its previous thread, which was abandoned";
            report.lag = clock_.mono_now() - created_at_;
        }
        return report;
    }

  private:
    [[nodiscard]] static uplink::UplinkRunner::Options runner_options(const Parts& parts, const UplinkOptions& from) {
        uplink::UplinkRunner::Options options = from.runner;
        options.log_directory = parts.log_directory;
        options.encoding = encoding_digest(parts.labels, from);
        options.delivery.seed = std::random_device()();  // gateways with the same settings do not retry together
        return options;
    }
    [[nodiscard]] uplink::UplinkRunner::Parts runner_parts() {
        const auto make_adapter = [this](uplink::Adapter::Events events) {
            return options_.module->make(loop_, adapter_options(), std::move(events));
        };
        return {reactor_, clock_, store::real_file_system(), make_adapter, encoding(), notes()};
    }

    [[nodiscard]] MessageEncoder::Options message_options() const {
        MessageEncoder::Options options = options_.messages;
        if (!options_.type.format) {
            options.make_encoder = [this](std::int64_t epoch_ms) {
                return options_.module->make_encoder({options_.type.options, gateway_of(labels_), epoch_ms});
            };
        }
        return options;
    }
    [[nodiscard]] uplink::BlockEncoding encoding() {
        using Messages = std::vector<uplink::OutgoingMessage>;
        const bool is_block = options_.type.format == MessageFormat::block;
        uplink::BlockEncoding result;
        result.format = options_.type.format ? to_string(*options_.type.format) : options_.type_name;
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
        options.subjects = SubjectTemplate(options_.messages.subject, gateway_of(labels_)).pattern();
        options.client_name = "telegate " + options_.runner.name;
        options.tls_server_name = options_.tls_server_name;
        options.headers = {{"Telegate-Gateway", gateway_of(labels_)}};
        options.message_bytes_max = options_.messages.bytes_max;
        options.resend_max = resend_max;
        options.type_options = options_.type.options;
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
            },
            [this, line](const std::string& reason) {
                log_.warn(line("uplink warning").quote("reason", reason));
            }};
    }

    const UplinkOptions options_;
    const End previous_;
    const Clock& clock_;
    const MonoTime created_at_{clock_.mono_now()};
    Log& log_;
    const SharedLabels labels_;
    MessageEncoder encoder_;
    BlockMessages blocks_;
    Reactor reactor_;
    uplink::ReactorLoop loop_{reactor_};
    uplink::UplinkRunner runner_;
    std::promise<void> ended_;
    const End end_ = ended_.get_future().share();
    std::thread thread_;
};

Uplinks::Uplinks(Parts parts, const std::vector<UplinkOptions>& options) : parts_(std::move(parts)) {
    for (const UplinkOptions& each : options) {
        list_.push_back(std::make_shared<One>(parts_, each, End()));
    }
}

Uplinks::~Uplinks() {
    close();
}

bool Uplinks::has_ended(const End& end) {
    return !end.valid() || end.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

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
        auto one = std::make_shared<One>(parts_, options, abandoned_end(options.runner.name));
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
    after.reserve(wanted.size());
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
    const MonoTime deadline = std::chrono::steady_clock::now() + parts_.stop_max;
    for (const auto& each : list) {
        if (!each->close(deadline)) {
            const std::lock_guard lock(mutex_);
            ++abandoned_count_;
            abandoned_.insert_or_assign(each->name(), each->end());
        }
    }
}

Uplinks::End Uplinks::abandoned_end(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = abandoned_.find(name);
    return found == abandoned_.end() ? End() : found->second;
}

std::uint64_t Uplinks::abandoned_count() const {
    const std::lock_guard lock(mutex_);
    return abandoned_count_;
}

bool Uplinks::has_abandoned() const {
    const std::lock_guard lock(mutex_);
    return std::any_of(abandoned_.begin(), abandoned_.end(), [](const auto& each) { return !has_ended(each.second); });
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
