#include "config/setting_rules.hpp"
#include "rows.hpp"

#include <array>

namespace telegate {
namespace gateway_section {

using S = Settings;
using R = RestSettings;
using L = LogSettings;
using T = TagSettings;

constexpr std::array<std::string_view, 6> log_levels{"trace", "debug", "info", "warn", "error", "off"};
constexpr WholeRule log_bytes{.min = 0, .max = 1'099'511'627'776};
constexpr WholeListRule processors{.min = 0, .max = 1'023};  // the fixed CPU set of the system has 1024
constexpr TextListRule log_devices{.holds = Holds::plain,
                                   .allowed = "the name of a device, or the beginning of one and *",
                                   .characters = "abcdefghijklmnopqrstuvwxyz0123456789_.-*",
                                   .bytes_max = 65,
                                   .count_max = 256};
constexpr TextRule log_file{.holds = Holds::path, .prefixes = {}, .allowed = "stderr, or the path of a file"};
constexpr TextRule gateway_name{.holds = Holds::plain,
                                .prefixes = {},
                                .allowed = "1 to 64 of the characters a-z 0-9 _ . -, or empty",
                                .characters = "abcdefghijklmnopqrstuvwxyz0123456789_.-",
                                .bytes_max = 64,
                                .may_be_empty = true};
// A tag is repeated in every payload.
constexpr TextRule tag_text{
    .holds = Holds::plain, .prefixes = {}, .allowed = "a text of 1 to 128 bytes", .bytes_max = 128};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "gateway", .key = "name", .rule = gateway_name, .applies = Applies::live,
               .unset = "the host name",
               .meaning = "Name of the gateway, which the service catalog, uplinks, /status, metrics and the page show. "
                          "The host name is used in lower case and with _ for other characters; in a container, it may "
                          "change with each start.",
               .slot = slot_of<&S::name>},
    SettingRow{.section = "gateway", .key = "sampling_interval_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Time between two readings of each device that does not set its own interval.",
               .slot = slot_of<&S::sampling_interval_ms>},
    SettingRow{.section = "gateway", .key = "queue_size",
               .rule = WholeRule{.min = 1, .max = 1'048'576, .zero_word = "auto"}, .unit = "samples",
               .applies = Applies::live,
               .meaning = "Maximum number of samples in the queue, shared by the sampling threads. auto means what the "
                          "devices need, 1024 to 262144: twice the samples of a second, and of at least two readings, of "
                          "each device. It follows when devices or channels are added. Queued samples use memory, 64 "
                          "bytes each; capacity that is not used does not.",
               .slot = slot_of<&S::queue_size>},
    SettingRow{.section = "gateway", .key = "log_level", .rule = ChoiceRule{log_levels}, .applies = Applies::live,
               .meaning = "Minimum severity of the log lines that are written.", .slot = slot_of<&S::log_level>},
    SettingRow{.section = "gateway", .key = "history_bytes", .rule = WholeRule{.min = 65'536, .max = 1'073'741'824},
               .unit = "bytes",
               .applies = Applies::live,
               .meaning = "Memory for the history: the last samples, 64 bytes each, which replays, REST and event "
                          "streams return. 1 MiB holds 12,288 samples (2 seconds at 5,000 samples/s) plus 3,640 of "
                          "quiet channels (history_per_channel). The memory is allocated as samples arrive.",
               .slot = slot_of<&S::history_bytes>},
    SettingRow{.section = "gateway", .key = "history_per_channel", .rule = WholeRule{.min = 0, .max = 10'000},
               .unit = "samples",
               .applies = Applies::live,
               .meaning = "Minimum number of samples that the history keeps for each channel, however many samples "
                          "other channels produce. A quarter of history_bytes is reserved for them, 72 bytes each; it "
                          "is only used for channels that have fewer samples among the last samples of all channels. "
                          "If the reserve is too small, each channel keeps half as many, and so on; see "
                          "telegate_history_per_channel. 0 means none: all of history_bytes holds the last samples of "
                          "all channels.",
               .slot = slot_of<&S::history_per_channel>},
    SettingRow{.section = "gateway", .key = "history_age", .rule = WholeRule{.min = 0, .max = 31'536'000'000},
               .unit = "ms",
               .applies = Applies::live,
               .meaning = "Maximum age of samples in the history. Older samples are not returned, even if they are "
                          "still in memory. 0 means no limit.",
               .slot = slot_of<&S::history_age_ms>},
    SettingRow{.section = "gateway", .key = "state_file", .rule = rules::file,
               .meaning = "File with the last sequence numbers of the previous runs. After a restart, clients can "
                          "find out from it which samples they missed. Each gateway needs its own file. Empty means "
                          "none; then samples that were lost before a restart are unknown.",
               .slot = slot_of<&S::state_file>},
    SettingRow{.section = "gateway", .key = "heartbeat_ms",
               .rule = WholeRule{.min = 10, .max = 3'600'000, .zero_is_default = true}, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Time without a sample after which subscribers receive a heartbeat notice ($beat) with the "
                          "last sequence number of the channel. The notice is repeated while the channel is silent. 0 "
                          "means never.",
               .slot = slot_of<&S::heartbeat_ms>},
    SettingRow{.section = "gateway", .key = "io_threads", .rule = WholeRule{.min = 1, .max = 64},
               .meaning = "Threads that write to the subscribers of each format, including the one that all formats "
                          "share. More than 1 helps if one processor cannot write to all subscribers.",
               .slot = slot_of<&S::io_threads>},

    SettingRow{.section = "sampling", .key = "realtime_priority", .rule = WholeRule{.min = 0, .max = 99},
               .meaning = "Real-time priority of the sampling thread, which then runs before all ordinary threads. 0 "
                          "means none.",
               .slot = slot_of<&S::realtime_priority>},
    SettingRow{.section = "sampling", .key = "cpu_affinity", .rule = processors,
               .meaning = "CPUs that the sampling thread may run on. Empty means any.",
               .slot = slot_of<&S::cpu_affinity>},

    SettingRow{.section = "queue", .key = "policy", .rule = ChoiceRule{rules::overflow_policies},
               .applies = Applies::live,
               .meaning = "Action of a sampling thread with a new sample when its share of the queue is full: drop "
                          "its oldest queued sample (drop_oldest), drop the new sample (drop_newest), or block until "
                          "the queue has capacity (block).",
               .slot = slot_of<&S::queue_policy>},

    SettingRow{.section = "log", .key = "path", .rule = rules::optional_directory,
               .meaning = "Directory of the durable log, which keeps all published samples on disk. Empty means none.",
               .slot = slot_of<&S::log, &L::path>},
    SettingRow{.section = "log", .key = "devices", .rule = log_devices,
               .meaning = "Devices whose samples are logged: names, or beginnings of names followed by *. The samples of "
                          "other devices are not replayed from the log and not delivered by uplinks. Empty means all.",
               .slot = slot_of<&S::log, &L::devices>},
    SettingRow{.section = "log", .key = "bytes_max", .rule = log_bytes, .unit = "bytes", .applies = Applies::live,
               .meaning = "Maximum size of the log, 1 MiB or more. 0 means no limit.",
               .slot = slot_of<&S::log, &L::bytes_max>},
    SettingRow{.section = "log", .key = "age_max", .rule = WholeRule{.min = 0, .max = 315'360'000'000}, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Maximum age of samples in the log. Older ones are removed a segment at a time. 0 means no "
                          "limit.",
               .slot = slot_of<&S::log, &L::age_max_ms>},
    SettingRow{.section = "log", .key = "free_bytes_min", .rule = log_bytes, .unit = "bytes",
               .applies = Applies::live,
               .meaning = "Free space that the log leaves on its file system. 0 means none.",
               .slot = slot_of<&S::log, &L::free_bytes_min>},
    SettingRow{.section = "log", .key = "sync_interval", .rule = WholeRule{.min = 0, .max = 3'600'000}, .unit = "ms",
               .applies = Applies::live,
               .meaning = "Maximum time until a written sample is safe from a power failure. Samples are written within "
                          "1 s. 0 means that every write is synced.",
               .slot = slot_of<&S::log, &L::sync_interval_ms>},
    SettingRow{.section = "log", .key = "when_full", .rule = ChoiceRule{rules::overflow_policies},
               .applies = Applies::live,
               .meaning = "Policy when the log reaches a limit: its oldest samples are removed (drop_oldest), "
                          "new samples are not logged (drop_newest), or publishing waits (block).",
               .slot = slot_of<&S::log, &L::when_full>},

    SettingRow{.section = "logging", .key = "format", .rule = ChoiceRule{rules::log_formats},
               .meaning = "Log format: human-readable text, or one JSON object per line.", .slot = slot_of<&S::log_format>},
    SettingRow{.section = "logging", .key = "file", .rule = log_file,
               .meaning = "Where the log is written: stderr, which a service manager collects, or a file. SIGUSR1 "
                          "(with systemd: systemctl kill --kill-whom=main -s USR1 telegate) reopens the file after "
                          "log rotation.",
               .slot = slot_of<&S::log_file>},

    SettingRow{.section = "rest", .key = "listen", .rule = ListenRule{},
               .meaning = "Address of the REST server. Port 0 means any free port. Empty means no TCP.",
               .slot = listen_of<&S::rest_host, &S::rest_port>},
    SettingRow{.section = "rest", .key = "unix_socket", .rule = rules::file,
               .meaning = "Path of a Unix socket on which the REST server also listens.",
               .slot = slot_of<&S::rest, &R::unix_socket>},
    SettingRow{.section = "rest", .key = "tokens_file", .rule = rules::credential,
               .meaning = "File with the access tokens of the REST server, in lines ROLE NAME TOKEN, or "
                          "credential:NAME.",
               .slot = slot_of<&S::rest, &R::tokens_file>},
    SettingRow{.section = "rest", .key = "tls_certificate", .rule = rules::credential,
               .meaning = "Certificate of the REST server in PEM, with its chain, or credential:NAME. Empty means no "
                          "TLS.",
               .slot = slot_of<&S::rest, &R::tls_certificate>},
    SettingRow{.section = "rest", .key = "tls_key", .rule = rules::credential,
               .meaning = "Private key of tls_certificate in PEM, or credential:NAME.",
               .slot = slot_of<&S::rest, &R::tls_key>},
    SettingRow{.section = "rest", .key = "tls_client_ca", .rule = rules::credential,
               .meaning = "CA certificates in PEM that client certificates are checked against, or credential:NAME. A "
                          "client with a valid certificate has the role admin.",
               .slot = slot_of<&S::rest, &R::tls_client_ca>},
    SettingRow{.section = "rest", .key = "streams_max", .rule = WholeRule{.min = 0, .max = 256}, .unit = "streams",
               .meaning = "Maximum number of concurrent event streams.",
               .slot = slot_of<&S::rest, &R::streams_max>},

    SettingRow{.section = "tags", .key = "value", .rule = tag_text, .applies = Applies::live, .required = true,
               .meaning = "Text of the tag. A section [tags] without a name defines several tags, each as NAME = "
                          "VALUE.",
               .slot = slot_of<&T::value>},
};
// clang-format on

}  // namespace gateway_section

std::span<const SettingRow> gateway_rows() noexcept {
    return gateway_section::rows;
}

}  // namespace telegate
