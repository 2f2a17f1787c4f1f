#include "host/proc_sources.hpp"

#include "core/text.hpp"
#include "host/text_scan.hpp"

#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace telegate::host {
namespace {

struct MeminfoField {
    std::string_view key;  // the key in meminfo
    const char* channel;
};

constexpr std::array<MeminfoField, 7> meminfo_fields{{
    {"MemTotal:", "mem.total"},
    {"MemFree:", "mem.free"},
    {"MemAvailable:", "mem.available"},
    {"Buffers:", "mem.buffers"},
    {"Cached:", "mem.cached"},
    {"SwapTotal:", "swap.total"},
    {"SwapFree:", "swap.free"},
}};
constexpr std::size_t memory_total = 0;
constexpr std::size_t memory_available = 2;
constexpr std::size_t swap_total = 5;
constexpr std::size_t swap_free = 6;

using OptionalBytes = std::optional<std::int64_t>;

/// Converts a value of meminfo. It is in KiB, although the unit in the file is kB.
OptionalBytes to_bytes(std::string_view kibibytes) noexcept {
    const auto number = parse_number<std::int64_t>(kibibytes);
    if (!number || *number < 0 || *number > std::numeric_limits<std::int64_t>::max() / 1024) {
        return std::nullopt;
    }
    return *number * 1024;
}

void add_difference(SampleBatch& batch, SampleBatch::Channel channel, const OptionalBytes& total,
                    const OptionalBytes& unused) {
    if (total && unused && *total >= *unused) {
        batch.add(channel, *total - *unused);
    }
}

/// Returns the values after the name of a line, such as "avg10=0.00 avg60=0.00 avg300=0.00 total=0"; empty if there is
/// no such line.
std::string_view find_line(std::string_view text, std::string_view name) noexcept {
    while (!text.empty()) {
        std::string_view line = take_line(text);
        if (take_word(line) == name) {
            return line;
        }
    }
    return {};
}

/// Returns the number after `key`, which includes its '='.
template <class Number>
std::optional<Number> find_value(std::string_view values, std::string_view key) noexcept {
    for (std::string_view word = take_word(values); !word.empty(); word = take_word(values)) {
        if (word.starts_with(key)) {
            return parse_number<Number>(word.substr(key.size()));
        }
    }
    return std::nullopt;
}

// Field numbers of a line of net/dev, counted after the colon.
enum NetworkField : std::size_t {
    rx_bytes = 0,
    rx_packets = 1,
    rx_errors = 2,
    rx_drops = 3,
    tx_bytes = 8,
    tx_packets = 9,
    tx_errors = 10,
    tx_drops = 11,
    network_field_count = 16,
};

constexpr std::array<CounterColumn, 8> network_counters{{
    {"rx_bytes", "By", rx_bytes, 1},
    {"rx_packets", "1", rx_packets, 1},
    {"rx_errors", "1", rx_errors, 1},
    {"rx_drops", "1", rx_drops, 1},
    {"tx_bytes", "By", tx_bytes, 1},
    {"tx_packets", "1", tx_packets, 1},
    {"tx_errors", "1", tx_errors, 1},
    {"tx_drops", "1", tx_drops, 1},
}};

// 800 Gbit/s and the corresponding number of packets; 32-bit counters are assumed to be on links of at most 10 Gbit/s.
constexpr RateLimits byte_limits{1e11, 1.25e9};
constexpr RateLimits packet_limits{1.2e9, 1.5e7};

constexpr std::array<RateColumn, 4> network_rates{{
    {"rx_rate", "By/s", rx_bytes, 1.0, byte_limits},
    {"rx_packets_rate", "1/s", rx_packets, 1.0, packet_limits},
    {"tx_rate", "By/s", tx_bytes, 1.0, byte_limits},
    {"tx_packets_rate", "1/s", tx_packets, 1.0, packet_limits},
}};

struct NetworkLine {
    std::string_view interface;  // empty in the two heading lines
    std::string_view numbers;
};

NetworkLine split_network_line(std::string_view line) noexcept {
    const std::size_t colon = line.rfind(':');  // the first number may follow it without a space
    if (colon == std::string_view::npos) {
        return {};
    }
    return {trimmed(line.substr(0, colon), blanks), line.substr(colon + 1)};
}

}  // namespace

LoadSource::LoadSource(const std::string& proc_root)
    : load_file_(proc_root + "/loadavg"), uptime_file_(proc_root + "/uptime") {}

void LoadSource::open(const Tick& tick) {
    load_channels_ = {tick.batch.add_channel("load.1m", "1"), tick.batch.add_channel("load.5m", "1"),
                      tick.batch.add_channel("load.15m", "1")};
    running_channel_ = tick.batch.add_channel("tasks.running", "1");
    total_channel_ = tick.batch.add_channel("tasks.total", "1");
    uptime_channel_ = tick.batch.add_channel("uptime", "s");
}

void LoadSource::read(const Tick& tick) {
    read_load(tick);
    read_uptime(tick);
}

void LoadSource::read_load(const Tick& tick) {
    std::string_view text = load_file_.read(tick.buffer).value_or("");
    for (const SampleBatch::Channel channel : load_channels_) {
        if (const auto load = parse_number<double>(take_word(text))) {
            tick.batch.add(channel, *load);
        }
    }
    const std::string_view tasks = take_word(text);  // running/total
    const std::size_t slash = tasks.find('/');
    if (slash == std::string_view::npos) {
        return;
    }
    if (const auto running = parse_number<std::int64_t>(tasks.substr(0, slash))) {
        tick.batch.add(running_channel_, *running);
    }
    if (const auto total = parse_number<std::int64_t>(tasks.substr(slash + 1))) {
        tick.batch.add(total_channel_, *total);
    }
}

void LoadSource::read_uptime(const Tick& tick) {
    std::string_view text = uptime_file_.read(tick.buffer).value_or("");
    if (const auto seconds = parse_number<double>(take_word(text))) {
        tick.batch.add(uptime_channel_, *seconds);
    }
}

MemorySource::MemorySource(const std::string& proc_root) : file_(proc_root + "/meminfo") {
    static_assert(meminfo_fields.size() == fields);
}

void MemorySource::open(const Tick& tick) {
    for (std::size_t field = 0; field < fields; ++field) {
        channels_[field] = tick.batch.add_channel(meminfo_fields[field].channel, "By");
    }
    memory_used_channel_ = tick.batch.add_channel("mem.used", "By");
    swap_used_channel_ = tick.batch.add_channel("swap.used", "By");
}

void MemorySource::read(const Tick& tick) {
    std::array<OptionalBytes, fields> values;
    std::string_view text = file_.read(tick.buffer).value_or("");
    for (std::size_t found = 0; found < fields && !text.empty();) {
        std::string_view line = take_line(text);
        const std::string_view key = take_word(line);
        for (std::size_t field = 0; field < fields; ++field) {
            if (key == meminfo_fields[field].key) {
                values[field] = to_bytes(take_word(line));
                ++found;
                break;
            }
        }
    }
    for (std::size_t field = 0; field < fields; ++field) {
        if (values[field]) {
            tick.batch.add(channels_[field], *values[field]);
        }
    }
    add_difference(tick.batch, memory_used_channel_, values[memory_total], values[memory_available]);
    add_difference(tick.batch, swap_used_channel_, values[swap_total], values[swap_free]);
}

PressureSource::PressureSource(const std::string& proc_root) : directory_(proc_root + "/pressure/") {}

void PressureSource::open(const Tick& tick) {
    resources_.clear();
    for (const char* const name : {"cpu", "memory", "io"}) {
        Resource resource{ProcFile(directory_ + name)};
        const std::string_view text = resource.file.read(tick.buffer).value_or("");
        const bool has_some = open(tick.batch, name, text, resource.some);
        const bool has_full = open(tick.batch, name, text, resource.full);
        if (has_some || has_full) {
            resources_.push_back(std::move(resource));
        }
    }
}

void PressureSource::read(const Tick& tick) {
    for (Resource& resource : resources_) {
        const std::string_view text = resource.file.read(tick.buffer).value_or("");
        read(tick.batch, text, resource.some);
        read(tick.batch, text, resource.full);
    }
}

bool PressureSource::open(SampleBatch& batch, const std::string& resource, std::string_view text, Line& line) {
    if (find_line(text, line.name).empty()) {
        return false;
    }
    const std::string stem = "psi." + resource + '.' + line.name;
    line.avg10_channel = batch.add_channel(stem + "_avg10", "%");
    line.total_channel = batch.add_channel(stem + "_total", "us");
    return true;
}

void PressureSource::read(SampleBatch& batch, std::string_view text, const Line& line) {
    const std::string_view values = find_line(text, line.name);
    if (const auto percent = find_value<double>(values, "avg10=")) {
        batch.add(line.avg10_channel, *percent);
    }
    if (const auto total_us = find_value<std::int64_t>(values, "total=")) {
        batch.add(line.total_channel, *total_us);
    }
}

NetworkSource::NetworkSource(const std::string& proc_root)
    : file_(proc_root + "/net/dev"), rows_(RowLayout{"net", network_counters, network_rates}) {}

void NetworkSource::open(const Tick& tick) {
    rows_.open(tick.batch);
    std::string_view text = file_.read(tick.buffer).value_or("");
    while (!text.empty()) {
        const NetworkLine line = split_network_line(take_line(text));
        if (!line.interface.empty()) {
            rows_.declare(tick.batch, line.interface);
        }
    }
}

void NetworkSource::read(const Tick& tick) {
    auto text = file_.read(tick.buffer);
    if (!text) {
        rows_.forget_readings();
        return;
    }
    rows_.begin_tick();
    while (!text->empty()) {
        const NetworkLine line = split_network_line(take_line(*text));
        if (!line.interface.empty()) {
            std::array<std::uint64_t, network_field_count> fields{};
            const std::size_t count = read_numbers(line.numbers, fields);
            rows_.update(tick, line.interface, std::span(fields).first(count));
        }
    }
    rows_.end_tick(tick);
}

}  // namespace telegate::host
