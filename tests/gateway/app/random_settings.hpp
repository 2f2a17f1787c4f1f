#pragma once

#include "config/payload_format.hpp"
#include "config/settings.hpp"
#include "support/driver_settings.hpp"
#include "support/scratch_dir.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace telegate::test {

/// Settings that change at random, plus a constant part: two devices with 10,000 samples per second in total, one
/// endpoint with format json and one with format record.
///
/// Threads: one. Limits: a few devices and endpoints. Failure: none.
class RandomSettings {
  public:
    explicit RandomSettings(std::uint32_t seed) : random_(seed) {
        settings_.log_level = "off";
        settings_.rest_port = 0;
        settings_.queue_size = queue_size_min;
        settings_.io_threads = 1 + below(3);
        settings_.devices = {device("steady-a", 1'000), device("steady-b", 1'000)};
        settings_.publish = {publish("steady-json", "json"), publish("steady-record", "record")};
    }

    [[nodiscard]] const Settings& now() const { return settings_; }
    const Settings& next() {
        for (std::uint32_t count = 1 + below(3); count > 0; --count) {
            change_one();
        }
        if (below(8) == 0) {
            std::shuffle(settings_.publish.begin(), settings_.publish.end(), random_);
            std::shuffle(settings_.devices.begin(), settings_.devices.end(), random_);
        }
        return settings_;
    }
    std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

  private:
    // Two seconds of samples, so that none is lost while the machine is busy.
    static constexpr std::int64_t queue_size_min = 40'000;
    static constexpr std::uint32_t names = 6;

    static DeviceSettings device(const std::string& name, std::int64_t interval_us) {
        DeviceSettings device;
        device.name = name;
        device.driver = "simulated";
        device.interval_us = interval_us;
        test::set_key(device, "waveforms", "sine, ramp, square, noise, counter");
        return device;
    }
    static PublishSettings publish(const std::string& name, const std::string& format) {
        PublishSettings publish;
        publish.name = name;
        publish.endpoint = "tcp://127.0.0.1:0";
        publish.format = format;
        return publish;
    }

    template <class Value>
    Value one_of(std::initializer_list<Value> values) {
        return *(values.begin() + below(static_cast<std::uint32_t>(values.size())));
    }

    void change_one() {
        switch (below(9)) {
            case 0: settings_.queue_size = queue_size_min + below(1'000); break;
            case 1: settings_.queue_policy = one_of({"drop_oldest", "drop_newest", "block"}); break;
            case 2: settings_.log_level = one_of({"off", "error"}); break;
            case 3:
                settings_.sampling_interval_ms = 5 + below(20);
                settings_.heartbeat_ms = below(2) == 0 ? 0 : 10 + below(50);
                break;
            case 4:
            case 5: change_publish(); break;
            case 6:
                change_delivery(settings_.publish[below(static_cast<std::uint32_t>(settings_.publish.size()))]);
                break;
            default: change_device(); break;
        }
    }

    /// Returns a section with a random name, added if needed; null if it was removed. Also returns whether it existed.
    template <class Section>
    std::pair<Section*, bool> some(std::vector<Section>& sections) {
        const std::string name = "passing-" + std::to_string(below(names));
        const auto known =
            std::find_if(sections.begin(), sections.end(), [&](const Section& each) { return each.name == name; });
        if (known != sections.end() && below(3) == 0) {
            sections.erase(known);
            return {nullptr, true};
        }
        if (known != sections.end()) {
            return {&*known, true};
        }
        sections.emplace_back().name = name;
        return {&sections.back(), false};
    }

    /// With capacity for the backlog of a fast subscriber on a busy machine.
    void change_delivery(PublishSettings& publish) {
        publish.policy = one_of({"drop_oldest", "drop_newest", "disconnect", "block", "conflate"});
        publish.backlog_bytes = 16'777'216 + below(16'777'216);
        publish.backlog_age = one_of({0, 3'600'000});
        publish.last_value = below(2) == 0;
    }
    void change_publish() {
        const auto [publish, is_old] = some(settings_.publish);
        if (publish == nullptr) {
            return;
        }
        if (!is_old || below(2) == 0) {
            publish->endpoint = below(2) == 0 ? "tcp://127.0.0.1:0" : "ipc://" + scratch_.path(publish->name);
        }
        publish->format = payload_format_names.names[below(payload_formats)];
    }

    void change_device() {
        const auto [device, is_old] = some(settings_.devices);
        if (device == nullptr) {
            return;
        }
        device->driver = "simulated";
        device->interval_us = below(4) == 0 ? 0 : 2'000 + below(20'000);
        if (!is_old || below(2) == 0) {
            test::set_key(*device, "seed", std::to_string(below(1'000)));
            test::set_key(*device, "waveforms",
                          std::string(one_of({"sine", "ramp"})) + ", " + one_of({"counter", "noise"}));
        }
    }

    std::mt19937 random_;
    ScratchDir scratch_;
    Settings settings_;
};

}  // namespace telegate::test
