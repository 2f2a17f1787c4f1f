#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

enum class SettingSource : std::uint8_t { file, environment, command_line };

/// The place where a section or a key is given.
struct SettingsPlace {
    std::string name;      // file, variable, or option as given; "" for none, as in JSON
    std::size_t line = 0;  // line in the file, from 1; 0: no line
    SettingSource source = SettingSource::file;

    /// Returns "FILE:LINE", "env TELEGATE_X" or "--set SECTION.KEY=VALUE".
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool operator==(const SettingsPlace&) const = default;
};

/// The places of the keys that one section gives.
using SettingsPlaces = std::map<std::string, SettingsPlace, std::less<>>;

/// Returns the place of `key`, or `otherwise` if the section does not give it.
inline SettingsPlace place_of(const SettingsPlaces& places, std::string_view key, const SettingsPlace& otherwise) {
    const auto found = places.find(key);
    return found == places.end() ? otherwise : found->second;
}

/// The members that all sections with a name have.
struct NamedSection {
    std::string name;
    SettingsPlace place;  // of its first line
    SettingsPlaces places;
};

inline SettingsPlace place_of(const NamedSection& section, std::string_view key) {
    return place_of(section.places, key, section.place);
}

/// The values of a device or channel that other modules define, in their own types: at most one value of each type. See
/// setting_slot.hpp.
using SettingParts = std::vector<std::any>;

struct DeviceSettings : NamedSection {
    std::string driver;
    std::int64_t interval_ms = 0;   // 0: use interval_us
    std::int64_t interval_us = 0;   // 0: use interval_ms; both 0: use sampling_interval_ms
    std::vector<std::string> tags;  // NAME=VALUE
    SettingParts parts;             // all other settings, including those of its driver
};

/// The settings of one channel of a device. Its name is DEVICE/CHANNEL, as its topic.
struct ChannelSettings : NamedSection {
    std::vector<std::string> tags;  // NAME=VALUE
    SettingParts parts;

    [[nodiscard]] std::string_view device() const noexcept { return std::string_view(name).substr(0, name.find('/')); }
    [[nodiscard]] std::string_view channel() const noexcept {
        const std::size_t slash = name.find('/');
        return slash == std::string::npos ? std::string_view() : std::string_view(name).substr(slash + 1);
    }
};

/// A name and value that describe the whole gateway and are sent with its samples.
struct TagSettings : NamedSection {
    std::string value;
};

struct PublishSettings : NamedSection {
    std::string endpoint;
    std::string format = "json";
    std::string curve_secret_key_file;   // "": no encryption
    std::string curve_clients_dir;       // "*": any client
    std::string policy = "drop_oldest";  // for slow subscribers
    std::int64_t backlog_bytes = 16'777'216;
    std::int64_t backlog_age = 0;  // ms; 0: none
    bool last_value = false;
};

struct ServiceSettings : NamedSection {
    std::string endpoint;
    std::string curve_secret_key_file;  // "": no encryption
    std::string curve_clients_dir;      // "*": any client
};

/// A back end to which the durable log is delivered.
struct UplinkSettings : NamedSection {
    std::string type = "nats";
    std::vector<std::string> url;
    std::vector<std::string> topics;  // empty: all
    std::string credentials_file;     // "": none; likewise the next ones
    std::string tls_ca;
    std::string tls_certificate;
    std::string tls_key;
    std::string tls_server_name;
    std::int64_t batch_samples = 1'000;
    std::int64_t batch_bytes = 262'144;
    std::int64_t window = 64;
    std::int64_t refusals_max = 3;
    std::int64_t rate_max = 0;  // 0: no limit
    std::int64_t catch_up = 0;  // 0: no limit
    std::string order = "strict";
    std::int64_t ack_grace_ms = 300'000;
    std::int64_t lag_alarm_ms = 60'000;
    SettingParts parts;  // all other settings, those of the type
};

/// Where the REST server listens and how it authenticates clients. "": not used.
struct RestSettings {
    std::string unix_socket;
    std::string tokens_file;
    std::string tls_certificate;
    std::string tls_key;
    std::string tls_client_ca;
    std::int64_t streams_max = 16;
};

/// The durable log. 0: no limit.
struct LogSettings {
    std::string path;  // "": none
    std::int64_t bytes_max = 10'737'418'240;
    std::int64_t age_max_ms = 0;
    std::int64_t free_bytes_min = 268'435'456;
    std::int64_t sync_interval_ms = 1'000;
    std::string when_full = "drop_oldest";
    std::vector<std::string> devices;  // names, or beginnings of names and "*"; none: all devices
};

/// The settings of the gateway as plain values within their ranges. The initializers are the defaults; ranges, units
/// and meanings are in the settings table (config/src/*_rows.cpp; for types of devices and uplinks
/// src/*/*_settings.cpp).
struct Settings {
    std::string name;  // of the gateway; "": that of the host
    std::int64_t sampling_interval_ms = 100;
    std::int64_t realtime_priority = 0;      // of the sampling thread; 0: no real-time priority
    std::vector<std::int64_t> cpu_affinity;  // CPUs that the sampling thread may run on; empty: any
    std::int64_t queue_size = 0;             // 0: auto
    std::string queue_policy = "drop_oldest";
    std::string log_level = "info";
    std::int64_t history_bytes = 1'048'576;
    std::int64_t history_age_ms = 0;  // 0: no limit
    std::int64_t history_per_channel = 16;
    std::string state_file;         // "": none
    std::int64_t heartbeat_ms = 0;  // 0: none
    std::int64_t io_threads = 1;
    LogSettings log;
    std::string log_format = "text";
    std::string log_file = "stderr";      // or a path
    std::string rest_host = "127.0.0.1";  // "": no TCP
    std::uint16_t rest_port = 8'080;
    RestSettings rest;
    std::vector<TagSettings> tags;
    std::vector<PublishSettings> publish;
    std::vector<ServiceSettings> services;
    std::vector<UplinkSettings> uplinks;
    std::vector<DeviceSettings> devices;
    std::vector<ChannelSettings> channels;
    std::map<std::string, SettingsPlaces, std::less<>> places;  // of the keys of each section without a name

    /// Returns the places of the keys of a section without a name.
    [[nodiscard]] const SettingsPlaces& places_of(std::string_view section) const;
};

}  // namespace telegate
