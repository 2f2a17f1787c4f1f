#include "config/settings_table.hpp"

#include <algorithm>
#include <array>

namespace telegate {
namespace {

using Names = std::string_view;

constexpr std::array<Names, 6> log_levels{"trace", "debug", "info", "warn", "error", "off"};
constexpr std::array<Names, 3> queue_policies{"drop_oldest", "drop_newest", "block"};
constexpr std::array<Names, 5> slow_policies{"drop_oldest", "drop_newest", "disconnect", "block", "conflate"};
constexpr std::array<Names, 2> drivers{"host", "simulated"};
constexpr std::array<Names, 6> waveforms{"sine", "ramp", "square", "random_walk", "noise", "counter"};
constexpr std::array<Names, 3> formats{"json", "cbor", "record"};
constexpr std::array<Names, 2> log_formats{"text", "json"};
constexpr std::array<Names, 2> endpoint_schemes{"tcp://", "ipc://"};

constexpr WholeRule interval{.min = 1, .max = 3'600'000};
// The least is what a thread needs to wake up and to read without never resting.
constexpr WholeRule interval_us{.min = 10, .max = 3'600'000'000};
constexpr WholeListRule processors{.min = 0, .max = 1'023};  // those of the system's fixed set
constexpr RealRule probability{.min = 0.0, .max = 1.0};
constexpr RealRule level{.min = -1e9, .max = 1e9};
constexpr TextRule endpoint{.prefixes = endpoint_schemes, .allowed = "tcp://ADDRESS:PORT or ipc://PATH"};
constexpr TextRule log_file{.prefixes = {}, .allowed = "stderr, or the path of a file"};
constexpr TextRule directory{.prefixes = {}, .allowed = "the path of a directory"};
constexpr TextRule file{.prefixes = {}, .allowed = "the path of a file, or nothing", .may_be_empty = true};
constexpr TextRule clients{
    .prefixes = {}, .allowed = "the path of a directory, * for any client, or nothing", .may_be_empty = true};
// Whole numbers above this are not exact in the doubles of JSON readers.
constexpr std::int64_t whole_number_max = 9'007'199'254'740'992;

template <class Owner, class Value>
Owner& owner_of(const SettingOwner& owner, Value Owner::*) {
    return *std::get<Owner*>(owner);
}

/// The place of a member, or of a member of a member, in the owner that has it.
template <auto first, auto... rest>
SettingSlot slot(const SettingOwner& owner) {
    return &((owner_of(owner, first).*first).*....*rest);
}

SettingSlot listen_slot(const SettingOwner& owner) {
    Settings& settings = *std::get<Settings*>(owner);
    return ListenSlot{&settings.rest_host, &settings.rest_port};
}

using S = Settings;
using P = PublishSettings;
using V = ServiceSettings;
using D = DeviceSettings;
using H = HostSettings;
using M = SimulatedSettings;
using R = RestSettings;

constexpr std::array sections{
    SectionRow{.name = "gateway", .meaning = "The gateway as a whole. These keys may also stand before any section."},
    SectionRow{.name = "sampling", .meaning = "The thread that reads the devices."},
    SectionRow{.name = "queue", .meaning = "The queue between the sampling threads and the subscribers."},
    SectionRow{.name = "log", .meaning = "Where the log goes and how it looks."},
    SectionRow{.name = "rest", .meaning = "The REST server that shows and steers the gateway."},
    SectionRow{.name = "publish", .count_max = 16, .meaning = "One endpoint that subscribers connect to."},
    SectionRow{.name = "services", .count_max = 4, .meaning = "One endpoint where ROUTER services are asked for."},
    SectionRow{.name = "device", .count_max = 256, .meaning = "One device; its name is the first part of its topics."},
};

// clang-format off
constexpr std::array settings{
    SettingRow{.section = "gateway", .key = "sampling_interval_ms", .rule = interval, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Time between two readings of each device that sets none of its own.",
               .slot = slot<&S::sampling_interval_ms>},
    SettingRow{.section = "gateway", .key = "queue_size",
               .rule = WholeRule{.min = 1, .max = 1'048'576, .zero_is_default = true}, .unit = "samples",
               .applies = Applies::live,
               .meaning = "Samples that the queue holds at most; 0 means the default size, not a queue without bound.",
               .slot = slot<&S::queue_size>},
    SettingRow{.section = "gateway", .key = "log_level", .rule = ChoiceRule{log_levels}, .applies = Applies::live,
               .meaning = "The least severe log lines that are written.", .slot = slot<&S::log_level>},
    SettingRow{.section = "gateway", .key = "history_bytes", .rule = WholeRule{.min = 65'536, .max = 1'073'741'824},
               .unit = "bytes",
               .meaning = "Memory for the last samples, 64 bytes each, which replays, REST and event streams give out; "
                          "1 MiB is 16,384 samples, so 3 seconds at 5,000 samples/s. It is taken as samples come.",
               .slot = slot<&S::history_bytes>},
    SettingRow{.section = "gateway", .key = "history_age", .rule = WholeRule{.min = 0, .max = 31'536'000'000},
               .unit = "ms",
               .meaning = "Older samples are given out no more, though there is memory for them; 0 means no limit.",
               .slot = slot<&S::history_age_ms>},
    SettingRow{.section = "gateway", .key = "state_file", .rule = file,
               .meaning = "File of the last sequence numbers of the last starts, for who asks after a restart, one for "
                          "each gateway; nothing means none, and then nobody can tell what was lost before a restart.",
               .slot = slot<&S::state_file>},
    SettingRow{.section = "gateway", .key = "heartbeat_ms",
               .rule = WholeRule{.min = 10, .max = 3'600'000, .zero_is_default = true}, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Silence of a channel after which subscribers are told its last sequence number ($beat), again "
                          "and again; 0 means never.",
               .slot = slot<&S::heartbeat_ms>},

    SettingRow{.section = "sampling", .key = "realtime_priority", .rule = WholeRule{.min = 0, .max = 99},
               .meaning = "Real-time priority of the sampling thread, before every ordinary thread; 0 means none.",
               .slot = slot<&S::realtime_priority>},
    SettingRow{.section = "sampling", .key = "cpu_affinity", .rule = processors,
               .meaning = "Processors that the sampling thread may run on; none means any.",
               .slot = slot<&S::cpu_affinity>},

    SettingRow{.section = "queue", .key = "policy", .rule = ChoiceRule{queue_policies},
               .applies = Applies::live,
               .meaning = "What a full queue does with a new sample: the oldest gives way, the new one is refused, or "
                          "sampling waits for room.",
               .slot = slot<&S::queue_policy>},

    SettingRow{.section = "log", .key = "format", .rule = ChoiceRule{log_formats},
               .meaning = "Lines for people, or one JSON object per line.", .slot = slot<&S::log_format>},
    SettingRow{.section = "log", .key = "file", .rule = log_file,
               .meaning = "stderr, which a service manager keeps, or a file; SIGUSR1 opens it anew after a rotation.",
               .slot = slot<&S::log_file>},

    SettingRow{.section = "rest", .key = "listen", .rule = ListenRule{},
               .meaning = "Address of the REST server; port 0 asks for any free port, nothing means no TCP.",
               .slot = listen_slot},
    SettingRow{.section = "rest", .key = "unix_socket", .rule = file,
               .meaning = "Path of a Unix socket where the REST server is reached too.",
               .slot = slot<&S::rest, &R::unix_socket>},
    SettingRow{.section = "rest", .key = "tokens_file", .rule = file,
               .meaning = "File of those who may use the REST server, lines ROLE NAME TOKEN, or credential:NAME.",
               .slot = slot<&S::rest, &R::tokens_file>},
    SettingRow{.section = "rest", .key = "tls_certificate", .rule = file,
               .meaning = "Certificate of the REST server in PEM, with its chain; nothing means no TLS.",
               .slot = slot<&S::rest, &R::tls_certificate>},
    SettingRow{.section = "rest", .key = "tls_key", .rule = file,
               .meaning = "Private key of tls_certificate in PEM.", .slot = slot<&S::rest, &R::tls_key>},
    SettingRow{.section = "rest", .key = "tls_client_ca", .rule = file,
               .meaning = "Certificates in PEM of who signs the certificates of clients, which then are admins.",
               .slot = slot<&S::rest, &R::tls_client_ca>},
    SettingRow{.section = "rest", .key = "streams_max", .rule = WholeRule{.min = 0, .max = 256}, .unit = "streams",
               .meaning = "Event streams that are open at the same time at most.",
               .slot = slot<&S::rest, &R::streams_max>},

    SettingRow{.section = "publish", .key = "endpoint", .rule = endpoint, .applies = Applies::live,
               .required = true,
               .meaning = "Where subscribers connect, in ZeroMQ notation.", .slot = slot<&P::endpoint>},
    SettingRow{.section = "publish", .key = "format", .rule = ChoiceRule{formats},
               .applies = Applies::live,
               .meaning = "How a sample looks there: a JSON object, the same as CBOR, or a record of 64 bytes.",
               .slot = slot<&P::format>},
    SettingRow{.section = "publish", .key = "curve_secret_key_file", .rule = file, .applies = Applies::live,
               .meaning = "Secret key of the endpoint, as telegate_keygen makes it, for CURVE; nothing means no "
                          "encryption.",
               .slot = slot<&P::curve_secret_key_file>},
    SettingRow{.section = "publish", .key = "curve_clients_dir", .rule = clients, .applies = Applies::live,
               .meaning = "Folder of the public keys of those who may come in, files NAME.public; * means any client "
                          "that knows the server's key.",
               .slot = slot<&P::curve_clients_dir>},
    SettingRow{.section = "publish", .key = "policy", .rule = ChoiceRule{slow_policies}, .applies = Applies::live,
               .meaning = "What becomes of messages for a subscriber that reads too slowly: it loses its oldest, or "
                          "what comes, or its connection, or publishing waits for it, or it keeps the newest of each "
                          "topic.",
               .slot = slot<&P::policy>},
    SettingRow{.section = "publish", .key = "backlog_bytes", .rule = WholeRule{.min = 65'536, .max = 1'073'741'824},
               .unit = "bytes", .applies = Applies::live,
               .meaning = "How far a subscriber may be behind, in bytes of what is published in its format.",
               .slot = slot<&P::backlog_bytes>},
    SettingRow{.section = "publish", .key = "backlog_age", .rule = WholeRule{.min = 0, .max = 86'400'000},
               .unit = "ms", .applies = Applies::live,
               .meaning = "What has waited for a subscriber for longer is given up; 0 means never.",
               .slot = slot<&P::backlog_age>},
    SettingRow{.section = "publish", .key = "last_value", .rule = BooleanRule{}, .applies = Applies::live,
               .meaning = "Whether a new subscription first gets the last value of each channel that it matches.",
               .slot = slot<&P::last_value>},

    SettingRow{.section = "services", .key = "endpoint", .rule = endpoint, .applies = Applies::live,
               .required = true,
               .meaning = "Where DEALER and REQ sockets connect, in ZeroMQ notation.", .slot = slot<&V::endpoint>},
    SettingRow{.section = "services", .key = "curve_secret_key_file", .rule = file, .applies = Applies::live,
               .meaning = "Secret key of the endpoint, as telegate_keygen makes it, for CURVE; nothing means no "
                          "encryption.",
               .slot = slot<&V::curve_secret_key_file>},
    SettingRow{.section = "services", .key = "curve_clients_dir", .rule = clients, .applies = Applies::live,
               .meaning = "Folder of the public keys of those who may come in, files NAME.public; * means any client "
                          "that knows the server's key.",
               .slot = slot<&V::curve_clients_dir>},

    SettingRow{.section = "device", .key = "driver", .rule = ChoiceRule{drivers}, .applies = Applies::live,
               .required = true,
               .meaning = "What is read: host is this machine, simulated makes signals up.",
               .slot = slot<&D::driver>},
    SettingRow{.section = "device", .key = "interval_ms", .rule = interval, .unit = "ms",
               .applies = Applies::live,
               .unset = "sampling_interval_ms", .meaning = "Time between two readings of this device.",
               .slot = slot<&D::interval_ms>},
    SettingRow{.section = "device", .key = "interval_us", .rule = interval_us, .unit = "us",
               .applies = Applies::live, .excludes = "interval_ms", .unset = "interval_ms",
               .meaning = "The same in microseconds, in place of interval_ms.", .slot = slot<&D::interval_us>},
    SettingRow{.section = "device", .key = "errors_before_safe", .rule = WholeRule{.min = 0, .max = 1'000'000},
               .unit = "readings",
               .applies = Applies::live,
               .meaning = "Failed readings in a row after which the device goes to the state safe; 0 means never.",
               .slot = slot<&D::errors_before_safe>},
    SettingRow{.section = "device", .key = "autostart", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "Whether the device measures from the start of the gateway.", .slot = slot<&D::autostart>},

    SettingRow{.section = "device", .driver = "host", .key = "per_core", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "CPU use of every core as well as the total.", .slot = slot<&D::host, &H::per_core>},
    SettingRow{.section = "device", .driver = "host", .key = "proc_root", .rule = directory,
               .applies = Applies::live,
               .meaning = "Where procfs is mounted.", .slot = slot<&D::host, &H::proc_root>},
    SettingRow{.section = "device", .driver = "host", .key = "sys_root", .rule = directory,
               .applies = Applies::live,
               .meaning = "Where sysfs is mounted.", .slot = slot<&D::host, &H::sys_root>},

    SettingRow{.section = "device", .driver = "simulated", .key = "waveforms", .rule = ListRule{waveforms},
               .applies = Applies::live,
               .meaning = "The signals, each a channel of that name.", .slot = slot<&D::simulated, &M::waveforms>},
    SettingRow{.section = "device", .driver = "simulated", .key = "seed",
               .rule = WholeRule{.min = 0, .max = whole_number_max},
               .applies = Applies::live,
               .meaning = "The same seed gives the same values.", .slot = slot<&D::simulated, &M::seed>},
    SettingRow{.section = "device", .driver = "simulated", .key = "amplitude", .rule = level,
               .applies = Applies::live,
               .meaning = "Height of sine, ramp, square and noise above their middle.",
               .slot = slot<&D::simulated, &M::amplitude>},
    SettingRow{.section = "device", .driver = "simulated", .key = "offset", .rule = level,
               .applies = Applies::live,
               .meaning = "Middle of every signal but counter.", .slot = slot<&D::simulated, &M::offset>},
    SettingRow{.section = "device", .driver = "simulated", .key = "period_ms",
               .rule = WholeRule{.min = 1, .max = 86'400'000}, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Period of sine, ramp and square.", .slot = slot<&D::simulated, &M::period_ms>},
    SettingRow{.section = "device", .driver = "simulated", .key = "error_probability", .rule = probability,
               .applies = Applies::live,
               .meaning = "Chance that a reading fails.", .slot = slot<&D::simulated, &M::error_probability>},
    SettingRow{.section = "device", .driver = "simulated", .key = "hang_probability", .rule = probability,
               .applies = Applies::live,
               .meaning = "Chance at each reading that the device stops answering for hang_time_ms.",
               .slot = slot<&D::simulated, &M::hang_probability>},
    SettingRow{.section = "device", .driver = "simulated", .key = "hang_time_ms", .rule = interval, .unit = "ms",
               .applies = Applies::live,
               .meaning = "How long a hang lasts.", .slot = slot<&D::simulated, &M::hang_time_ms>},
    SettingRow{.section = "device", .driver = "simulated", .key = "stuck_probability", .rule = probability,
               .applies = Applies::live,
               .meaning = "Chance at each reading that the values freeze for stuck_time_ms.",
               .slot = slot<&D::simulated, &M::stuck_probability>},
    SettingRow{.section = "device", .driver = "simulated", .key = "stuck_time_ms", .rule = interval, .unit = "ms",
               .applies = Applies::live,
               .meaning = "How long the values stay frozen.", .slot = slot<&D::simulated, &M::stuck_time_ms>},
    SettingRow{.section = "device", .driver = "simulated", .key = "burst_probability", .rule = probability,
               .applies = Applies::live,
               .meaning = "Chance that a reading gives burst_samples samples per channel instead of one.",
               .slot = slot<&D::simulated, &M::burst_probability>},
    SettingRow{.section = "device", .driver = "simulated", .key = "burst_samples",
               .rule = WholeRule{.min = 1, .max = 100'000}, .unit = "samples",
               .applies = Applies::live,
               .meaning = "Samples per channel in a burst.", .slot = slot<&D::simulated, &M::burst_samples>},
};
// clang-format on

}  // namespace

std::span<const SectionRow> section_table() noexcept {
    return sections;
}

std::span<const SettingRow> settings_table() noexcept {
    return settings;
}

const SectionRow* find_section(std::string_view name) noexcept {
    const auto* const found =
        std::find_if(sections.begin(), sections.end(), [&](const SectionRow& row) { return row.name == name; });
    return found == sections.end() ? nullptr : found;
}

const SettingRow* find_setting(std::string_view section, std::string_view key, std::string_view driver) noexcept {
    const auto* const found = std::find_if(settings.begin(), settings.end(), [&](const SettingRow& row) {
        return row.section == section && row.key == key && (row.driver.empty() || row.driver == driver);
    });
    return found == settings.end() ? nullptr : found;
}

}  // namespace telegate
