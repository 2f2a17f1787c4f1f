#include "host/memory_source.hpp"

#include "core/text.hpp"
#include "host/text_scan.hpp"

#include <limits>
#include <optional>

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

}  // namespace

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

}  // namespace telegate::host
