#include "gateway.hpp"

#include "descriptor_limit.hpp"
#include "log_value.hpp"
#include "run_on.hpp"
#include "schedule_refusals.hpp"
#include "state_text.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>

namespace telegate {
namespace {

/// Descriptors that subscribers leave to REST, drivers and the rest of the process.
constexpr std::size_t descriptors_kept = 192;

/// Connections that the limit of descriptors leaves to subscribers.
std::size_t connections_max() {
    const std::size_t descriptors = raise_descriptor_limit();
    return descriptors - std::min(descriptors / 2, descriptors_kept);
}

}  // namespace

Gateway::Gateway(const Settings& settings, Plan plan, Log& log, ReloadSource source)
    : log_(log),
      peer_log_(log),
      epoch_ms_(clock_.utc_now_ns() / 1'000'000),
      started_at_(clock_.mono_now()),
      ledger_(std::max(device_names_max, plan.devices.size()), channels_),
      queue_(plan.queue_capacity, plan.queue_policy, Producers::one),
      log_level_(reactor_, log, settings.log_level),
      history_(static_cast<std::size_t>(settings.history_bytes)),
      sample_text_(channels_, epoch_ms_),
      streams_([this] { reactor_.post([this] { pump_.catch_up(); }); }, [this] { rest_.wake_streams(); }),
      publishers_(reactor_, plan.publish, connections_max(), [this](const MonitorEvent& event) { note(event); }),
      pump_({reactor_, queue_, waker_, channels_, ledger_, publishers_.by_format(), &history_, &streams_}, epoch_ms_),
      pump_watch_(reactor_, clock_, pump_),
      endpoint_trouble_(clock_),
      sampler_(clock_, channels_, queue_, ledger_, waker_),
      sampling_thread_(sampler_, clock_, std::move(plan.sampling_schedule)),
      live_parts_({sampler_, sampling_thread_, queue_, reactor_, publishers_, pump_, log_level_}),
      live_settings_(
          settings, with_credentials(std::move(source)),
          [this](const LiveParts::Wanted& wanted) { return live_parts_.change(wanted); }, log_),
      rest_(std::move(plan.rest), rest_handlers()) {
    add_devices(std::move(plan.devices));
}

Gateway::~Gateway() {
    finish();
}

void Gateway::note(const MonitorEvent& event) {
    // With the first, what nobody asked for is out of the queue before anybody can ask.
    if (event.kind == MonitorEventKind::handshake_done || event.kind == MonitorEventKind::subscribed) {
        pump_.catch_up();
    }
    endpoint_trouble_.note(event);
    peer_log_.note(event);
}

void Gateway::add_devices(std::vector<PlannedDevice> devices) {
    for (PlannedDevice& device : devices) {
        sampler_.add(std::move(device.options), std::move(device.driver));
    }
}

ReloadSource Gateway::with_credentials(ReloadSource source) {
    source.reload_files = [this](const Settings& settings) {
        const std::vector<NamedCurve> curves = read_curves(settings);  // first: when it throws, nothing has changed
        const CredentialsRead rest = rest_.reload_credentials();
        return std::max(rest, renew(curves));
    };
    return source;
}

CredentialsRead Gateway::renew(const std::vector<NamedCurve>& curves) {
    const auto read = ask_io<CredentialsRead>([&] {
        CredentialsRead result = CredentialsRead::none;
        for (const NamedCurve& each : curves) {
            result = std::max(result, each.curve != nullptr ? CredentialsRead::same : CredentialsRead::none);
            if (const auto closed = publishers_.renew(each)) {
                result = CredentialsRead::changed;
                log_.info_each("curve keys changed publish=" + log_value(each.name) +
                               " subscribers_closed=" + std::to_string(*closed));
            }
        }
        return result;
    });
    if (!read) {
        throw LateAnswer("the io thread did not answer in time, CURVE keys are as they were");
    }
    return *read;
}

RestHandlers Gateway::rest_handlers() {
    RestHandlers handlers;
    handlers.snapshot = [this] {
        return snapshot();
    };
    handlers.devices = [this] {
        std::vector<std::string> names;
        for (const DeviceId id : sampler_.devices()) {
            names.push_back(sampler_.status(id).name);
        }
        return names;
    };
    handlers.command = [this](std::string_view device, DeviceCommand what) {
        return command(device, what);
    };
    handlers.health = [this] {
        return health();
    };
    handlers.close_subscriber = [this](PayloadFormat format, std::uint64_t id) {
        return close_subscriber(format, id);
    };
    handlers.log_change = [this](const std::string& line) {
        log_.info_each(line);
    };
    handlers.log_refused = [this](std::string_view who, const std::string& line) {
        log_.info_limited("rest change refused " + std::string(who), line);
    };
    handlers.sample_text = &sample_text_;
    handlers.history = &history_;
    handlers.streams = &streams_;
    handlers.log_level = &log_level_;
    handlers.traffic = &traffic_;
    handlers.config = config_handlers();
    return handlers;
}

ConfigHandlers Gateway::config_handlers() {
    ConfigHandlers handlers;
    handlers.in_force = [this] {
        return live_settings_.in_force();
    };
    handlers.reload = [this](std::string_view who) {
        return live_settings_.reload(who);
    };
    handlers.replace = [this](const LiveSettings::Replacement& replacement, std::string_view who) {
        return live_settings_.replace(replacement, who);
    };
    handlers.to_json = live_settings_.source().to_json;
    handlers.from_json = live_settings_.source().from_json;
    return handlers;
}

std::vector<Endpoint> Gateway::endpoints() const {
    std::vector<Endpoint> result;
    for (const FormatEndpoint& bound : publishers_.endpoints()) {
        result.push_back(bound.endpoint);
    }
    return result;
}

void Gateway::start() {
    pump_.start();
    io_thread_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "tg-io");
        reactor_.run();
    });
    sampling_thread_.start();
    for (const std::string& line : schedule_refusals(sampling_thread_.schedule())) {
        log_.warn(line);
    }
    rest_.start();
    state_ = GatewayState::running;
    log_start();
}

void Gateway::begin_stop() {
    if (state_.exchange(GatewayState::stopping) == GatewayState::stopping) {
        return;
    }
    stop_until_ = clock_.mono_now() + stop_grace_max;
    log_.info("stopping");
    rest_.stop();
    if (queue_.policy() == OverflowPolicy::block) {
        queue_.close();  // the sampler may be waiting for room
    }
    sampling_thread_.stop();
    queue_.close();
    reactor_.post([this] {
        pump_.drain_all();
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(stop_until_ - clock_.mono_now());
        publishers_.close(std::max(left, std::chrono::milliseconds(0)), [this] { stopped_.wake(); });
    });
}

void Gateway::finish() {
    if (state_.exchange(GatewayState::stopping) != GatewayState::stopping) {
        rest_.stop();
        queue_.close();
        sampling_thread_.stop();
    }
    if (!io_thread_.joinable()) {
        return;
    }
    reactor_.stop();
    io_thread_.join();
    pump_.discard_all(DropReason::shutdown);
    log_final_books();
}

template <class Answer>
std::optional<Answer> Gateway::ask_io(const std::function<Answer()>& question) {
    std::optional<Answer> answer;
    if (!run_on(
            reactor_, [&] { answer = question(); }, answer_time_max)) {
        return std::nullopt;
    }
    return answer;
}

std::optional<StatusSnapshot> Gateway::snapshot() {
    return ask_io<StatusSnapshot>([this] {
        pump_.catch_up();
        return take_snapshot();
    });
}

std::optional<bool> Gateway::close_subscriber(PayloadFormat format, std::uint64_t id) {
    return ask_io<bool>([this, format, id] { return publishers_.close_peer(format, id); });
}

std::optional<CommandResult> Gateway::command(std::string_view device, DeviceCommand what) {
    const auto id = sampler_.find(device);
    // Who asks a thread that hangs would hang as well, with a worker of the REST server.
    if (!id || sampling_thread_.is_deaf() || sampling_thread_.overdue(clock_.mono_now()) > answer_time_max) {
        return std::nullopt;
    }
    const auto result = sampling_thread_.run_command(*id, what, answer_time_max);
    if (result) {
        log_.info_each("device command device=" + std::string(device) + " state=" +
                       std::string(to_string(result->state)) + " possible=" + (result->possible ? "true" : "false"));
    }
    return result;
}

Health Gateway::health() {
    Health health;
    const GatewayState state = state_;
    const bool runs = state == GatewayState::running;
    health.checks.push_back({.name = "state", .good = runs, .detail = runs ? "" : std::string(to_string(state))});
    health.checks.push_back(check_sampling(sampling_thread_, sampler_, clock_.mono_now()));
    if (io_thread_.joinable()) {
        health.checks.push_back(check_pump(pump_watch_.ask(sign_of_life_max)));
    }
    health.checks.push_back(endpoint_trouble_.check());
    health.checks.push_back(check_devices(sampler_));
    return health;
}

StatusSnapshot Gateway::take_snapshot() const {
    StatusSnapshot snapshot;
    snapshot.state = state_;
    snapshot.epoch_ms = epoch_ms_;
    snapshot.time_utc_ns = clock_.utc_now_ns();
    snapshot.uptime = clock_.mono_now() - started_at_;
    snapshot.queue_capacity = queue_.capacity();
    snapshot.queue_high_water = queue_.high_water();
    snapshot.queue_policy = queue_.policy();
    snapshot.sampling_schedule = sampling_thread_.schedule().in_force;
    snapshot.config = live_settings_.status();
    take_books(snapshot);
    for (const FormatEndpoint& bound : publishers_.endpoints()) {
        snapshot.endpoints.push_back(
            {to_string(bound.endpoint), bound.format, bound.curve ? to_z85(bound.curve->keys.public_key) : "", {}});
        if (bound.curve && bound.curve->clients) {
            snapshot.endpoints.back().clients = bound.curve->clients->size();
        }
    }
    snapshot.rest_endpoint = rest_url();
    snapshot.subscribers = publishers_.subscribers();
    snapshot.subscribers_revoked = publishers_.revoked();
    snapshot.publisher = publishers_.totals();
    snapshot.formats = publishers_.totals_by_format();
    take_channels(snapshot);
    return snapshot;
}

void Gateway::take_channels(StatusSnapshot& snapshot) const {
    TelemetrySample none{};
    none.quality = Quality::bad;
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        const auto id = static_cast<ChannelId>(i);
        const TelemetrySample* last = pump_.last(id);
        const ChannelDrops drops = ledger_.drops_of(id);
        if (last != nullptr || (drops.count > 0 && channels_.is_current(id))) {
            const ChannelInfo& info = channels_.at(id);
            snapshot.channels.push_back({info.topic, info.unit, last != nullptr ? *last : none, drops});
        }
    }
    snapshot.channels_refused = channels_.refused();
}

void Gateway::take_books(StatusSnapshot& snapshot) const {
    // The pump stands still here, so the queue can only grow between the two looks at it, and what the books call
    // queued is in it or in the sampler's hand: one batch, and the oldest items that it is making room with.
    constexpr std::size_t in_hand_max = SampleBatch::samples_max + BoundedQueue<TelemetrySample>::evict_items_max;
    const std::size_t before = queue_.size();
    // What was in the queue by then is of one of these, and so is what is added to it, but for a device's first
    // samples.
    const std::vector<DeviceId> devices = sampler_.devices();
    const std::vector<Books> all = ledger_.cut(sampler_.names());
    snapshot.queue_depth = queue_.size();
    std::uint64_t queued = 0;
    for (const Books& books : all) {
        queued += books.queued;
        snapshot.books_removed += books;
    }
    for (const DeviceId id : devices) {
        snapshot.devices.push_back(sampler_.status(id));
        snapshot.books.push_back(all[to_index(id)]);
        snapshot.books_removed -= snapshot.books.back();
    }
    snapshot.queue_agrees = queued >= before && queued <= snapshot.queue_depth + in_hand_max;
}

std::string Gateway::rest_url() const {
    const std::vector<std::string> urls = rest_.urls();
    return urls.empty() ? "none" : urls.front();
}

void Gateway::log_start() const {
    std::string endpoints_text;
    for (const Endpoint& endpoint : endpoints()) {
        endpoints_text += " publish=" + to_string(endpoint);
    }
    log_.info("running rest=" + rest_url() + endpoints_text + " devices=" + std::to_string(sampler_.devices().size()) +
              " queue=" + std::to_string(queue_.capacity()));
}

void Gateway::log_final_books() const {
    const std::vector<Books> books = ledger_.cut(sampler_.names());
    for (std::size_t i = 0; i < books.size(); ++i) {
        const std::string line = sampler_.status(static_cast<DeviceId>(i)).name + ' ' + books_text(books[i]);
        if (books[i].balanced() && books[i].queued == 0) {
            log_.info("books device=" + line);
        } else {
            log_.error("books do not balance device=" + line);
        }
    }
    const PublisherTotals totals = publishers_.totals();
    log_.info("stopped messages=" + std::to_string(totals.messages) + " matched=" + std::to_string(totals.matched) +
              " sent=" + std::to_string(totals.sent) + " dropped=" + std::to_string(totals.dropped) +
              " pending=" + std::to_string(totals.pending));
}

}  // namespace telegate
