#pragma once

#include "app/gateway.hpp"
#include "config/load.hpp"
#include "log/log.hpp"
#include "plan/plan.hpp"
#include "support/eventually.hpp"

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace telegate::test {

/// A complete gateway in this process, created from settings text. Its ports are free ones.
struct GatewayFixture {
    explicit GatewayFixture(const std::string& ini) : GatewayFixture(parse_settings(ini, "test.ini")) {}
    explicit GatewayFixture(const Settings& settings, ReloadSource source = {}) : log("off"), wanted(settings) {
        if (!source.load) {
            source.load = [this] {
                return LoadedSettings{wanted, {}};
            };
        }
        gateway = std::make_unique<Gateway>(settings, make_plan(settings), log, std::move(source));
        gateway->start();
    }

    /// Applies these settings like a reload of the file.
    ReloadReport change_to(const Settings& settings) {
        wanted = settings;
        return gateway->live_settings().reload("test");
    }

    /// Runs `call` on the I/O thread, while the test continues.
    void post_to_io(std::function<void()> call) { gateway->reactor_.post(std::move(call)); }
    /// Runs `call` on the I/O thread and waits for it.
    void on_io(const std::function<void()>& call) {
        std::promise<void> done;
        post_to_io([&] {
            call();
            done.set_value();
        });
        done.get_future().wait();
    }
    void pause_pump() {
        on_io([this] { gateway->pump_.pause(); });
    }
    void resume_pump() {
        on_io([this] { gateway->pump_.resume(); });
    }
    /// Removes samples from the queue as if they were lost, and returns their number.
    std::size_t steal(std::span<TelemetrySample> samples) {
        std::size_t taken = 0;
        on_io([&] { taken = gateway->queue_.pop(samples); });
        return taken;
    }
    const Ledger& ledger() const { return gateway->ledger_; }
    const ChannelTable& channels() const { return gateway->channels_; }
    EventLog& events() const { return gateway->events_; }
    Alarms& alarms() const { return gateway->alarms_; }
    const History& history() const { return gateway->consumers_.history; }
    LogHistory& log_history() { return *gateway->log_history_; }
    DurableLogStatus log_status() const { return gateway->consumers_.durable_log->status(); }
    /// Returns the last sequence number of the channel that the pump has passed on. Only after stop().
    std::uint64_t last_pumped(ChannelId channel) const { return gateway->pump_.last(channel)->seq; }

    std::string endpoint(std::size_t index = 0) { return to_string(gateway->endpoints().at(index)); }
    StatusSnapshot status() { return gateway->snapshot().value(); }
    /// Returns the part of status() that the I/O thread provides.
    StatusSnapshot io_status() {
        StatusSnapshot snapshot;
        on_io([&] { snapshot = gateway->take_snapshot(); });
        return snapshot;
    }

    bool wait_for(const std::function<bool(const StatusSnapshot&)>& condition) {
        return eventually([&] { return condition(status()); });
    }

    /// Stops the gateway cleanly. Returns whether this succeeded.
    bool stop() {
        gateway->begin_stop();
        pollfd waiting{gateway->stopped_descriptor(), POLLIN, 0};
        return ::poll(&waiting, 1, 60'000) == 1;
    }

    Log log;
    Settings wanted;
    std::unique_ptr<Gateway> gateway;
};

}  // namespace telegate::test
