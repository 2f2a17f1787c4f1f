#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace telegate {

/// Where a section stands, for faults that only show when its values are used.
struct SettingsPlace {
    std::string file;
    std::size_t line = 0;  // from 1
};

/// What the settings file says, as plain values within their ranges. Defaults are the values given here; ranges,
/// units and meanings are in the settings table (config/src/settings_table.cpp).
struct HostSettings {
    bool per_core = false;
    std::string proc_root = "/proc";
    std::string sys_root = "/sys";
};

struct SimulatedSettings {
    std::vector<std::string> waveforms{"sine", "ramp", "square", "random_walk", "noise", "counter"};
    std::int64_t seed = 1;
    double amplitude = 10.0;
    double offset = 20.0;
    std::int64_t period_ms = 10'000;
    double error_probability = 0.0;
    double hang_probability = 0.0;
    std::int64_t hang_time_ms = 5'000;
    double stuck_probability = 0.0;
    std::int64_t stuck_time_ms = 5'000;
    double burst_probability = 0.0;
    std::int64_t burst_samples = 100;
};

struct DeviceSettings {
    std::string name;
    SettingsPlace place;
    std::string driver;            // "host" or "simulated"
    std::int64_t interval_ms = 0;  // 0: interval_us
    std::int64_t interval_us = 0;  // 0: interval_ms; both 0: sampling_interval_ms
    std::int64_t errors_before_safe = 10;
    bool autostart = true;
    HostSettings host;            // meaningful when driver is "host"
    SimulatedSettings simulated;  // meaningful when driver is "simulated"
};

struct PublishSettings {
    std::string name;
    SettingsPlace place;
    std::string endpoint;
    std::string format = "json";
    std::string curve_secret_key_file;   // "": no encryption
    std::string curve_clients_dir;       // "*": any client
    std::string policy = "drop_oldest";  // for subscribers that read too slowly
    std::int64_t backlog_bytes = 16'777'216;
    std::int64_t backlog_age = 0;  // ms; 0: none
    bool last_value = false;
    std::map<std::string, SettingsPlace, std::less<>> places;  // of the keys that are given
};

struct ServiceSettings {
    std::string name;
    SettingsPlace place;
    std::string endpoint;
    std::string curve_secret_key_file;                         // "": no encryption
    std::string curve_clients_dir;                             // "*": any client
    std::map<std::string, SettingsPlace, std::less<>> places;  // of the keys that are given
};

/// Who reaches the REST server, and how they show who they are. "" for what is not used.
struct RestSettings {
    std::string unix_socket;
    std::string tokens_file;
    std::string tls_certificate;
    std::string tls_key;
    std::string tls_client_ca;
    std::int64_t streams_max = 16;
    std::map<std::string, SettingsPlace, std::less<>> places;  // of the keys of [rest] that are given
};

struct Settings {
    std::int64_t sampling_interval_ms = 100;
    std::int64_t realtime_priority = 0;      // of the sampling thread; 0: none
    std::vector<std::int64_t> cpu_affinity;  // processors of the sampling thread; empty: any
    SettingsPlace cpu_affinity_place;        // meaningful when cpu_affinity is not empty
    std::int64_t queue_size = 1'024;
    std::string queue_policy = "drop_oldest";
    std::string log_level = "info";
    std::int64_t history_bytes = 1'048'576;
    std::int64_t history_age_ms = 0;  // 0: no limit
    std::string state_file;           // "": none
    std::int64_t heartbeat_ms = 0;    // 0: none
    std::string log_format = "text";
    std::string log_file = "stderr";      // or a path
    std::string rest_host = "127.0.0.1";  // "": no TCP
    std::int64_t rest_port = 8'080;
    RestSettings rest;
    std::vector<PublishSettings> publish;
    std::vector<ServiceSettings> services;
    std::vector<DeviceSettings> devices;
};

}  // namespace telegate
