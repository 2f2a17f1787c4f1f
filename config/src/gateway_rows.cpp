#include "config/setting_rules.hpp"
#include "rows.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace gateway_section {

using S = Settings;
using R = RestSettings;
using C = RecordSettings;

constexpr std::array<std::string_view, 6> log_levels{"trace", "debug", "info", "warn", "error", "off"};
constexpr std::array<std::string_view, 3> queue_policies{"drop_oldest", "drop_newest", "block"};
constexpr std::array<std::string_view, 2> log_formats{"text", "json"};
constexpr WholeListRule processors{.min = 0, .max = 1'023};  // those of the system's fixed set
constexpr TextRule log_file{.prefixes = {}, .allowed = "stderr, or the path of a file"};

SettingSlot listen_slot(const SettingOwner& owner) {
    Settings& settings = *std::get<Settings*>(owner);
    return ListenSlot{&settings.rest_host, &settings.rest_port};
}

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "gateway", .key = "sampling_interval_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Time between two readings of each device that sets none of its own.",
               .slot = slot<&S::sampling_interval_ms>},
    SettingRow{.section = "gateway", .key = "queue_size",
               .rule = WholeRule{.min = 1, .max = 1'048'576, .zero_is_default = true}, .unit = "samples",
               .applies = Applies::live,
               .meaning = "Samples that the queue holds at most, shared by the sampling threads; 0 means the default size.",
               .slot = slot<&S::queue_size>},
    SettingRow{.section = "gateway", .key = "log_level", .rule = ChoiceRule{log_levels}, .applies = Applies::live,
               .meaning = "The least severe log lines that are written.", .slot = slot<&S::log_level>},
    SettingRow{.section = "gateway", .key = "history_bytes", .rule = WholeRule{.min = 65'536, .max = 1'073'741'824},
               .unit = "bytes",
               .meaning = "Memory for the last samples, 64 bytes each, which replays, REST and event streams give out; "
                          "1 MiB is 12,288 samples, so 2 seconds at 5,000 samples/s, and 3,640 of quiet channels "
                          "(history_per_channel). It is taken as samples come.",
               .slot = slot<&S::history_bytes>},
    SettingRow{.section = "gateway", .key = "history_per_channel", .rule = WholeRule{.min = 0, .max = 10'000},
               .unit = "samples",
               .meaning = "Samples that the history keeps of each channel at least, however many come from others. A "
                          "quarter of history_bytes is for them, 72 bytes each, and is needed only for channels that "
                          "have fewer among the last samples of all. If that does not suffice, each channel keeps half "
                          "as many, and so on; see telegate_history_per_channel. 0 means none, and all of "
                          "history_bytes is for the last samples of all channels together.",
               .slot = slot<&S::history_per_channel>},
    SettingRow{.section = "gateway", .key = "history_age", .rule = WholeRule{.min = 0, .max = 31'536'000'000},
               .unit = "ms",
               .meaning = "Older samples are given out no more, though there is memory for them; 0 means no limit.",
               .slot = slot<&S::history_age_ms>},
    SettingRow{.section = "gateway", .key = "state_file", .rule = rules::file,
               .meaning = "File of the last sequence numbers of the last starts, for who asks after a restart, one for "
                          "each gateway; nothing means none, and then nobody can tell what was lost before a restart.",
               .slot = slot<&S::state_file>},
    SettingRow{.section = "gateway", .key = "heartbeat_ms",
               .rule = WholeRule{.min = 10, .max = 3'600'000, .zero_is_default = true}, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Silence of a channel after which subscribers are told its last sequence number ($beat), again "
                          "and again; 0 means never.",
               .slot = slot<&S::heartbeat_ms>},
    SettingRow{.section = "gateway", .key = "record", .rule = rules::file, .applies = Applies::file,
               .meaning = "File to which all samples are recorded as they are published; nothing means none.",
               .slot = slot<&S::record, &C::path>},
    SettingRow{.section = "gateway", .key = "record_bytes_max", .rule = WholeRule{.min = 0, .max = 1'099'511'627'776},
               .unit = "bytes", .applies = Applies::file,
               .meaning = "How large a recording grows, 1 MiB or more, before it becomes FILE.1 and a new one begins; 0 "
                          "means without limit.",
               .slot = slot<&S::record, &C::bytes_max>},
    SettingRow{.section = "gateway", .key = "record_files_max", .rule = WholeRule{.min = 1, .max = 1'000},
               .unit = "files", .applies = Applies::file,
               .meaning = "How many files there are of each recording, with the one that is written; the oldest gives "
                          "way.",
               .slot = slot<&S::record, &C::files_max>},

    SettingRow{.section = "sampling", .key = "realtime_priority", .rule = WholeRule{.min = 0, .max = 99},
               .meaning = "Real-time priority of the sampling thread, before every ordinary thread; 0 means none.",
               .slot = slot<&S::realtime_priority>},
    SettingRow{.section = "sampling", .key = "cpu_affinity", .rule = processors,
               .meaning = "Processors that the sampling thread may run on; none means any.",
               .slot = slot<&S::cpu_affinity>},

    SettingRow{.section = "queue", .key = "policy", .rule = ChoiceRule{queue_policies},
               .applies = Applies::live,
               .meaning = "What a sampling thread does with a new sample when its share of the queue is full: the oldest one "
                          "of the thread gives way, the new one is refused, or the thread waits for room.",
               .slot = slot<&S::queue_policy>},

    SettingRow{.section = "log", .key = "format", .rule = ChoiceRule{log_formats},
               .meaning = "Lines for people, or one JSON object per line.", .slot = slot<&S::log_format>},
    SettingRow{.section = "log", .key = "file", .rule = log_file,
               .meaning = "stderr, which a service manager keeps, or a file; SIGUSR1 (under systemd: systemctl kill "
                          "--kill-whom=main -s USR1 telegate) reopens it after a rotation.",
               .slot = slot<&S::log_file>},

    SettingRow{.section = "rest", .key = "listen", .rule = ListenRule{},
               .meaning = "Address of the REST server; port 0 asks for any free port, nothing means no TCP.",
               .slot = listen_slot},
    SettingRow{.section = "rest", .key = "unix_socket", .rule = rules::file,
               .meaning = "Path of a Unix socket where the REST server is reached too.",
               .slot = slot<&S::rest, &R::unix_socket>},
    SettingRow{.section = "rest", .key = "tokens_file", .rule = rules::credential,
               .meaning = "File of those who may use the REST server, lines ROLE NAME TOKEN, or credential:NAME.",
               .slot = slot<&S::rest, &R::tokens_file>},
    SettingRow{.section = "rest", .key = "tls_certificate", .rule = rules::credential,
               .meaning = "Certificate of the REST server in PEM, with its chain; nothing means no TLS.",
               .slot = slot<&S::rest, &R::tls_certificate>},
    SettingRow{.section = "rest", .key = "tls_key", .rule = rules::credential,
               .meaning = "Private key of tls_certificate in PEM, or credential:NAME.",
               .slot = slot<&S::rest, &R::tls_key>},
    SettingRow{.section = "rest", .key = "tls_client_ca", .rule = rules::credential,
               .meaning = "Certificates in PEM of who signs the certificates of clients, which then are admins.",
               .slot = slot<&S::rest, &R::tls_client_ca>},
    SettingRow{.section = "rest", .key = "streams_max", .rule = WholeRule{.min = 0, .max = 256}, .unit = "streams",
               .meaning = "Event streams that are open at the same time at most.",
               .slot = slot<&S::rest, &R::streams_max>},
};
// clang-format on

}  // namespace gateway_section

std::span<const SettingRow> gateway_rows() noexcept {
    return gateway_section::rows;
}

}  // namespace telegate
