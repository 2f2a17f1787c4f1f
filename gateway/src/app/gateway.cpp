#include "app/gateway.hpp"

#include "app/system_limits.hpp"
#include "base/call_on_reactor.hpp"
#include "base/exit_code.hpp"
#include "events/device_events.hpp"
#include "log/log_line.hpp"
#include "store/log_index.hpp"

#include "core/start_thread.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace telegate {
namespace {

/// Returns the path of a file next to the state file; "" without a state file.
std::string path_beside(const StateFile& state, const char* ending) {
    return state.is_kept() ? state.path() + ending : "";
}

/// Returns the highest epoch that the durable log has; 0: none.
std::int64_t logged_epoch_ms(const Plan& plan) {
    return plan.log.path.empty() ? 0 : store::newest_epoch_ms(store::real_file_system(), plan.log.path);
}

RestOptions with_descriptors(RestOptions options, const DescriptorShares& shares) {
    options.connections_max = shares.rest;
    options.streams_max = shares.rest_streams;
    return options;
}

}  // namespace

Gateway::Gateway(const Settings& settings, Plan plan, Log& log, ReloadSource source)
    : log_(log),
      peer_log_(log),
      state_file_(settings.state_file, log),
      epoch_ms_(state_file_.choose_epoch(clock_.utc_now_ns() / 1'000'000, logged_epoch_ms(plan))),
      started_at_(clock_.mono_now()),
      events_(clock_, [this] { event_keeper_.wake(); }),
      alarms_(events_,
              [this](std::string_view device) {
                  const std::optional<DeviceId> id = sampler_.find(device);
                  return id && sampler_.state(*id) == DeviceState::measuring;
              }),
      alarm_file_(alarms_, log_, path_beside(state_file_, ".alarms")),
      event_keeper_(events_, log_, path_beside(state_file_, ".events"), [this] { alarm_file_.save(false); }),
      descriptors_(share_descriptors(raise_descriptor_limit(), own_descriptors(plan.devices.size(), plan.io_threads),
                                     plan.rest.connections_max, plan.rest.streams_max)),
      ledger_(std::max(device_names_max, plan.devices.size()), channels_),
      queue_(plan.queue_capacity == 0 ? queue_.capacity_auto_min : plan.queue_capacity, plan.queue_policy),
      log_level_(reactor_, log, settings.log_level),
      sample_text_(channels_, epoch_ms_, plan.labels),
      slow_gaps_({channels_, clock_, epoch_ms_,
                  [this](PayloadFormat format, std::uint64_t id) {
                      reactor_.post([this, format, id] { publishers_.close_peer(format, id, "too many gaps"); });
                  }}),
      publishers_(reactor_, plan.publish, {descriptors_.subscribers, plan.io_threads}, publisher_hooks()),
      uplinks_({clock_, log_, plan.log.path, plan.labels}, plan.uplinks),
      consumers_{.channels = channels_,
                 .history = History(static_cast<std::size_t>(settings.history_bytes),
                                    std::chrono::milliseconds(settings.history_age_ms), nullptr,
                                    static_cast<std::size_t>(settings.history_per_channel)),
                 .durable_log = make_durable_log(std::move(plan.log)),
                 .format_feeds = FormatFeeds({channels_, epoch_ms_, plan.labels,
                                              [this] {
                                                  waker_.wake();
                                              }}),
                 .streams = EventStreams([this] { reactor_.post([this] { pump_.catch_up(); }); },
                                         [this] { rest_.wake_streams(); })},
      log_history_(make_log_history()),
      pump_({reactor_, queue_, waker_, channels_, ledger_}),
      services_(services_parts(), plan.services, descriptors_.services),
      last_values_({reactor_, channels_, publishers_, pump_, consumers_.format_feeds, consumers_.history, slow_gaps_}),
      heartbeats_(reactor_, channels_, pump_, consumers_.format_feeds),
      pump_watch_(reactor_, clock_, pump_),
      endpoint_trouble_(clock_),
      sampler_(sample_clock_, channels_, {queue_, ledger_, waker_}),
      channel_watch_({reactor_, channels_, pump_, clock_,
                      [this](DeviceId device) {
                          return sampler_.state(device) == DeviceState::measuring;
                      }}),
      sampling_threads_(sampler_, clock_, std::move(plan.sampling_schedule)),
      unclaimed_sections_(unclaimed_parts()),
      settings_applier_({sampler_, sampling_threads_, queue_, reactor_, publishers_, services_.endpoints(), heartbeats_,
                         log_level_, consumers_.durable_log.get(), uplinks_, events_, alarms_, sample_text_,
                         consumers_.format_feeds, consumers_.history,
                         [this] {
                             feed_consumers();
                         }}),
      live_settings_(
          settings, with_credentials(std::move(source)),
          [this](const SettingsApplier::Wanted& wanted) { return change_settings(wanted); }, log_),
      state_worker_("tg-state", [this] { return write_state(); }),
      rest_(with_descriptors(std::move(plan.rest), descriptors_), rest_handlers()) {
    sampler_.on_refused([this](const std::string& device, std::string_view why) {
        if (log_.has_debug()) {
            log_.debug_limited(device, LogLine("device input refused").add("device", device).quote("reason", why));
        }
    });
    alarms_.retain(settings);
    sampler_.observe_alarms_with([this](const AlarmNews& news) { alarms_.record(news); });
    if (plan.queue_capacity == 0) {
        queue_.follow_needs();
    }
    add_devices(std::move(plan.devices));
    sampler_.on_small_queue([this] {  // after the start, which checks the settings
        const QueueNeed need = sampler_.queue_need();
        log_.warn_limited("queue_size",
                          LogLine("queue is too small for one reading of each device; samples may be lost")
                              .add("capacity", queue_.capacity())
                              .add("samples", need.reading)
                              .add("needed", queue_.capacity_for(need.items)));
    });
    observe_devices();  // only now, so that the devices from the start are not reported as added
    feed_consumers();
    heartbeats_.set_interval(std::chrono::milliseconds(settings.heartbeat_ms));
    unclaimed_sections_.watch(settings.channels);
}

Gateway::~Gateway() {
    finish();
    if (uplinks_.has_abandoned()) {
        // The threads use parts of this object, the log and static objects, so nothing may be destroyed.
        log_.error("a thread did not stop: exiting without it");
        std::_Exit(exit_code::internal);
    }
}

Publishers::Hooks Gateway::publisher_hooks() {
    return {[this](PayloadFormat format, const MonitorEvent& event) { record(format, event); },
            [this](PayloadFormat format) {
                return slow_gaps_.hooks(format);
            }};
}

std::unique_ptr<DurableLog> Gateway::make_durable_log(DurableLogOptions options) {
    if (options.path.empty()) {
        return nullptr;
    }
    auto log = std::make_unique<DurableLog>(log_parts(), std::move(options));
    if (const auto last = log->status().previous_run) {
        state_file_.learn(last->epoch_ms, log->take_last_seqs());
    }
    return log;
}

DurableLog::Parts Gateway::log_parts() {
    auto known = [this](std::int64_t epoch_ms) {
        const PastEpoch* const epoch = state_file_.find(epoch_ms);
        return epoch == nullptr ? store::LastSeqs() : epoch->last_seqs;
    };
    return {.channels = channels_,
            .clock = clock_,
            .log = log_,
            .epoch_ms = epoch_ms_,
            .known = std::move(known),
            .wake_pump = [this] { waker_.wake(); },
            .note_synced = [this](store::Position position) { uplinks_.log_synced(position); },
            .keep_from = [this] { return uplinks_.keep_from(); },
            .captured = [this](ChannelId channel) { return ledger_.last_captured(channel); },
            .note_space =
                [this](bool is_lacking, LogFields fields) {
                    events_.add({.time_utc_ns = clock_.utc_now_ns(),
                                 .kind = is_lacking ? EventKind::log_space_lacking : EventKind::log_space_regained,
                                 .fields = std::move(fields)});
                }};
}

std::unique_ptr<LogHistory> Gateway::make_log_history() {
    if (consumers_.durable_log == nullptr) {
        return nullptr;
    }
    DurableLog& log = *consumers_.durable_log;
    return std::make_unique<LogHistory>(
        LogHistory::Parts{consumers_.history, log, log.status().path, sample_text_, log_});
}

void Gateway::feed_consumers() {
    pump_.feed({});  // while the feeds are replaced
    consumers_.format_feeds.publish_to(publishers_.by_format());
    pump_.feed(consumers_.all());
}

void Gateway::record(PayloadFormat format, const MonitorEvent& event) {
    // Before the pump takes more samples, which are live for a new subscription.
    last_values_.record(format, event);
    if (event.kind == MonitorEventKind::disconnected) {
        slow_gaps_.forget(format, event.peer_id);
    }
    // For the first subscription, this empties the queue of samples from before it.
    if (event.kind == MonitorEventKind::handshake_done || event.kind == MonitorEventKind::subscribed) {
        pump_.catch_up();
    }
    endpoint_trouble_.record(event);
    if (event.peer_id != 0) {  // not from the constructor of the publishers
        endpoint_trouble_.set_crowd(format, publishers_.crowd(format));
    }
    peer_log_.log_event(event);
}

void Gateway::add_devices(std::vector<PlannedDevice> devices) {
    for (PlannedDevice& device : devices) {
        alarms_.continue_in(device.processing, device.options.name);
        publish_events(*device.driver, device.options.name, events_);
        sampler_.add(std::move(device.options), std::move(device.driver), std::move(device.processing));
    }
}

std::string Gateway::change_settings(const SettingsApplier::Wanted& wanted) {
    std::string left = settings_applier_.change(wanted);
    if (!wanted.dry_run) {
        unclaimed_sections_.watch(wanted.to.channels);
    }
    return left;
}

ReloadSource Gateway::with_credentials(ReloadSource source) {
    source.reload_files = [this](const Settings& settings) {
        const std::vector<NamedCurve> curves = read_curves(settings);  // first: if it throws, nothing has changed
        const std::vector<NamedCurve> of_services = read_service_curves(settings);
        const CredentialsRead rest = rest_.reload_credentials();
        return std::max(rest, renew(curves, of_services));
    };
    return source;
}

/// Thread: the reactor's.
CredentialsRead Gateway::renew_now(const std::vector<NamedCurve>& publish, const std::vector<NamedCurve>& services) {
    CredentialsRead result = CredentialsRead::none;
    const auto note = [&](const NamedCurve& each, std::optional<std::size_t> closed, const char* kind) {
        result = std::max(result, each.curve != nullptr ? CredentialsRead::same : CredentialsRead::none);
        if (closed) {
            result = CredentialsRead::changed;
            log_.info_each(LogLine("curve keys changed").add(kind, each.name).add("subscribers_closed", *closed));
        }
    };
    for (const NamedCurve& each : publish) {
        note(each, publishers_.renew(each), "publish");
    }
    for (const NamedCurve& each : services) {
        note(each, services_.endpoints().renew(each), "services");
    }
    return result;
}

CredentialsRead Gateway::renew(const std::vector<NamedCurve>& publish, const std::vector<NamedCurve>& services) {
    const auto read = query_io<CredentialsRead>([&] { return renew_now(publish, services); });
    if (!read) {
        reactor_.post([this, publish, services] { (void)renew_now(publish, services); });
        throw LateAnswer("the I/O thread did not respond in time: CURVE keys will be updated when it does");
    }
    return *read;
}

std::vector<Endpoint> Gateway::endpoints() const {
    std::vector<Endpoint> result;
    for (const FormatEndpoint& bound : publishers_.endpoints()) {
        result.push_back(bound.endpoint);
    }
    return result;
}

void Gateway::start() {
    state_file_.begin(epoch_ms_);
    alarm_file_.save(false);
    event_keeper_.start();
    record_start();
    pump_.start();
    channel_watch_.start();
    io_thread_ = start_thread("tg-io", [this] { reactor_.run(); });
    sampling_threads_.start();
    for (const LogLine& line : schedule_refusals(sampling_threads_.schedule())) {
        log_.warn(line);
    }
    if (state_file_.is_kept()) {
        state_worker_.start();
        state_worker_.call_at(clock_.mono_now() + state_interval);
    }
    uplinks_.start();
    rest_.start();
    check_free_descriptors(raise_descriptor_limit());
    state_ = GatewayState::running;
    log_start();
}

void Gateway::stop_sampling() {
    if (queue_.policy() == OverflowPolicy::block) {
        queue_.close();  // the sampler may be waiting for capacity
    }
    sampling_threads_.stop();
    queue_.close();
}

void Gateway::begin_stop() {
    if (state_.exchange(GatewayState::stopping) == GatewayState::stopping) {
        return;
    }
    stop_until_ = clock_.mono_now() + stop_grace_max;
    log_.info("stopping");
    rest_.close();
    live_settings_.stop();
    stop_sampling();
    reactor_.post([this] {
        heartbeats_.set_interval(std::chrono::milliseconds(0));
        pump_.drain_all();
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(stop_until_ - clock_.mono_now());
        const auto grace = std::max(left, std::chrono::milliseconds(0));
        const auto left_open = std::make_shared<std::atomic<int>>(3);
        const auto is_closed = [this, left_open] {
            if (--*left_open == 0) {
                stopped_.wake();
            }
        };
        services_.close(grace, is_closed);
        publishers_.close(grace, is_closed);
        consumers_.streams.end();
        rest_.stop_after_streams(stop_until_, is_closed);
    });
}

void Gateway::finish() {
    rest_.stop();
    live_settings_.stop();
    if (state_.exchange(GatewayState::stopping) != GatewayState::stopping) {
        stop_sampling();
    }
    if (!io_thread_.joinable()) {
        return;
    }
    reactor_.stop();
    io_thread_.join();
    services_.join();
    state_worker_.stop();
    pump_.feed(consumers_.lasting());
    pump_.discard_all(DropReason::shutdown);
    if (log_history_ != nullptr) {
        log_history_->close();
    }
    consumers_.close();
    uplinks_.close();
    events_.add({.time_utc_ns = clock_.utc_now_ns(), .kind = EventKind::gateway_stopped});
    event_keeper_.stop();
    alarm_file_.save(true);
    end_epoch();
    log_final_ledger();
}

std::optional<bool> Gateway::close_subscriber(PayloadFormat format, std::uint64_t id) {
    return query_io<bool>([this, format, id] { return publishers_.close_peer(format, id); });
}

/// Returns whether the thread that reads the device is stuck.
bool Gateway::is_stuck(DeviceId device) const {
    return sampling_threads_.is_deaf(device) ||
           (!sampler_.is_own(device) && sampling_threads_.overdue(clock_.mono_now()) > answer_time_max);
}

std::optional<CommandResult> Gateway::command(std::string_view device, DeviceCommand what) {
    const auto id = sampler_.find(device);
    // Otherwise the caller would wait for the stuck thread too, and block a worker of the REST server.
    if (!id || is_stuck(*id)) {
        return std::nullopt;
    }
    const auto result = sampling_threads_.run_command(*id, what, answer_time_max);
    if (result) {
        log_.info_each(LogLine("device command")
                           .add("device", device)
                           .add("state", to_string(result->state))
                           .add("possible", result->possible));
    }
    return result;
}

std::string Gateway::rest_url() const {
    const std::vector<std::string> urls = rest_.urls();
    return urls.empty() ? "none" : urls.front();
}

void Gateway::log_start() const {
    LogLine line = LogLine("running").add("rest", rest_url());
    for (const Endpoint& endpoint : endpoints()) {
        line.add("publish", to_string(endpoint));
    }
    for (const std::string& url : service_urls()) {
        line.add("services", url);
    }
    log_.info(line.add("devices", sampler_.devices().size()).add("queue", queue_.capacity()));
}

void Gateway::log_final_ledger() const {
    const std::vector<LedgerCounts> counts = ledger_.cut(sampler_.names());
    if (!ledger_.channels_agree(counts.size())) {
        log_.error("device and channel ledgers disagree");
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const LogFields fields =
            LogFields().add("device", sampler_.status(static_cast<DeviceId>(i)).name).append(ledger_fields(counts[i]));
        if (counts[i].balanced() && counts[i].queued == 0) {
            log_.info({"ledger", fields});
        } else {
            log_.error({"ledger does not balance", fields});
        }
    }
    const PublisherTotals totals = publishers_.totals();
    log_.info(LogLine("stopped")
                  .add("messages", totals.messages)
                  .add("matched", totals.matched)
                  .add("sent", totals.sent)
                  .add("dropped", totals.dropped)
                  .add("pending", totals.pending));
}

}  // namespace telegate
