#pragma once

#include "config/device_settings.hpp"
#include "config/settings_place.hpp"
#include "config/tag_settings.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace telegate {

/// The settings of the gateway as plain values within their ranges. The initializers are the defaults; ranges, units
/// and meanings are in the settings table (config/src/*_rows.cpp; for drivers device/src/*/*_settings.cpp).
struct PublishSettings {
    std::string name;
    SettingsPlace place;
    std::string endpoint;
    std::string format = "json";
    std::string curve_secret_key_file;   // "": no encryption
    std::string curve_clients_dir;       // "*": any client
    std::string policy = "drop_oldest";  // for slow subscribers
    std::int64_t backlog_bytes = 16'777'216;
    std::int64_t backlog_age = 0;  // ms; 0: none
    bool last_value = false;
    SettingsPlaces places;
};

struct ServiceSettings {
    std::string name;
    SettingsPlace place;
    std::string endpoint;
    std::string curve_secret_key_file;  // "": no encryption
    std::string curve_clients_dir;      // "*": any client
    SettingsPlaces places;
};

/// A back end to which the durable log is delivered.
struct UplinkSettings {
    std::string name;
    SettingsPlace place;
    std::string type = "nats";
    std::vector<std::string> url;
    std::string subject = "telegate.samples";
    std::vector<std::string> topics;  // empty: all
    std::string credentials_file;     // "": none; likewise the next ones
    std::string tls_ca;
    std::string tls_certificate;
    std::string tls_key;
    std::string tls_server_name;
    std::string format = "json";
    std::int64_t batch_samples = 1'000;
    std::int64_t batch_bytes = 262'144;
    std::int64_t window = 64;
    std::int64_t refusals_max = 3;
    std::int64_t rate_max = 0;  // 0: no limit
    std::int64_t catch_up = 0;  // 0: no limit
    std::string order = "strict";
    std::int64_t ack_grace_ms = 300'000;
    std::int64_t lag_alarm_ms = 60'000;
    SettingsPlaces places;
};

/// Where the REST server listens and how it authenticates clients. "": not used.
struct RestSettings {
    std::string unix_socket;
    std::string tokens_file;
    std::string tls_certificate;
    std::string tls_key;
    std::string tls_client_ca;
    std::int64_t streams_max = 16;
    SettingsPlaces places;
};

/// The recording of the whole gateway, and the limit of each recording.
struct RecordSettings {
    std::string path;  // "": none
    std::int64_t bytes_max = 1'073'741'824;
};

/// The durable log. 0: no limit.
struct LogSettings {
    std::string path;  // "": none
    std::int64_t bytes_max = 10'737'418'240;
    std::int64_t age_max_ms = 0;
    std::int64_t free_bytes_min = 268'435'456;
    std::int64_t sync_interval_ms = 1'000;
    std::string when_full = "drop_oldest";
};

struct Settings {
    std::int64_t sampling_interval_ms = 100;
    std::int64_t realtime_priority = 0;      // of the sampling thread; 0: no real-time priority
    std::vector<std::int64_t> cpu_affinity;  // CPUs that the sampling thread may run on; empty: any
    SettingsPlace cpu_affinity_place;        // meaningful if cpu_affinity is not empty
    std::int64_t queue_size = 1'024;
    std::string queue_policy = "drop_oldest";
    std::string log_level = "info";
    std::int64_t history_bytes = 1'048'576;
    std::int64_t history_age_ms = 0;  // 0: no limit
    std::int64_t history_per_channel = 16;
    std::string state_file;         // "": none
    std::int64_t heartbeat_ms = 0;  // 0: none
    std::int64_t io_threads = 1;
    RecordSettings record;
    LogSettings log;
    std::string log_format = "text";
    std::string log_file = "stderr";      // or a path
    std::string rest_host = "127.0.0.1";  // "": no TCP
    std::int64_t rest_port = 8'080;
    RestSettings rest;
    std::vector<TagSettings> tags;
    std::vector<PublishSettings> publish;
    std::vector<ServiceSettings> services;
    std::vector<UplinkSettings> uplinks;
    std::vector<DeviceSettings> devices;
    std::vector<ChannelSettings> channels;
};

}  // namespace telegate
