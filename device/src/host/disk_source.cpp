#include "host/disk_source.hpp"

#include "host/text_scan.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace telegate::host {
namespace {

// Field numbers of a line of diskstats, counted after the name.
enum DiskField : std::size_t {
    reads = 0,
    read_sectors = 2,
    writes = 4,
    write_sectors = 6,
    busy_ms = 9,
    disk_field_count = 17,
};

constexpr std::int64_t sector_bytes = 512;  // in this table, regardless of the sector size of the disk

constexpr std::array<CounterColumn, 4> disk_counters{{
    {"read_bytes", "By", read_sectors, sector_bytes},
    {"write_bytes", "By", write_sectors, sector_bytes},
    {"read_operations", "1", reads, 1},
    {"write_operations", "1", writes, 1},
}};

// 100 GB/s and the corresponding number of operations; for 32-bit counters the maximum of old kernels and buses.
constexpr RateLimits sector_limits{1e11 / sector_bytes, 1.25e9 / sector_bytes};
constexpr RateLimits operation_limits{2e8, 2e7};
// The kernel counts time when requests end, so a long request can show up as several seconds at once.
constexpr RateLimits busy_limits{1e7, 1e4};

constexpr std::array<RateColumn, 5> disk_rates{{
    {"read_rate", "By/s", read_sectors, sector_bytes, sector_limits},
    {"write_rate", "By/s", write_sectors, sector_bytes, sector_limits},
    {"read_operations_rate", "1/s", reads, 1.0, operation_limits},
    {"write_operations_rate", "1/s", writes, 1.0, operation_limits},
    {"busy", "%", busy_ms, 0.1, busy_limits, 100.0},
}};

struct DiskLine {
    std::string_view name;
    std::string_view numbers;
};

DiskLine split_disk_line(std::string_view line) noexcept {
    take_word(line);  // major and
    take_word(line);  // minor device number
    const std::string_view name = take_word(line);
    return {name, line};
}

bool is_memory_or_loop(std::string_view name) noexcept {
    return name.starts_with("loop") || name.starts_with("ram") || name.starts_with("zram");
}

}  // namespace

DiskSource::DiskSource(const std::string& proc_root, const std::string& sys_root)
    : file_(proc_root + "/diskstats"),
      rows_(RowLayout{"disk", disk_counters, disk_rates}),
      block_path_(sys_root + "/block/") {}

void DiskSource::open(const Tick& tick) {
    rows_.open(tick.batch);
    std::string_view text = file_.read(tick.buffer).value_or("");
    while (!text.empty()) {
        const DiskLine line = split_disk_line(take_line(text));
        if (is_disk(line.name)) {
            rows_.declare(tick.batch, line.name);
        }
    }
}

void DiskSource::read(const Tick& tick) {
    auto text = file_.read(tick.buffer);
    if (!text) {
        rows_.forget_readings();
        return;
    }
    if (++ticks_ % others_ticks == 0) {
        others_.clear();
    }
    next_other_ = 0;
    rows_.begin_tick();
    while (!text->empty()) {
        const DiskLine line = split_disk_line(take_line(*text));
        if (is_disk(line.name)) {
            std::array<std::uint64_t, disk_field_count> fields{};
            const std::size_t count = read_numbers(line.numbers, fields);
            rows_.update(tick, line.name, std::span(fields).first(count));
        }
    }
    rows_.end_tick(tick);
}

void DiskSource::reset() noexcept {
    rows_.forget_readings();
    others_.clear();
}

bool DiskSource::is_disk(std::string_view name) {
    if (name.empty() || name.size() > ShortName::bytes_max || is_memory_or_loop(name)) {
        return false;
    }
    if (rows_.contains(name)) {
        return true;
    }
    if (is_known_other(name)) {
        return false;
    }
    if (is_in_sysfs(name)) {
        return true;
    }
    if (others_.size() < others_max) {
        ShortName& other = others_.emplace_back();
        std::copy(name.begin(), name.end(), other.bytes);
        other.size = static_cast<std::uint8_t>(name.size());
    }
    return false;
}

bool DiskSource::is_known_other(std::string_view name) noexcept {
    for (std::size_t tried = 0; tried < others_.size(); ++tried) {
        const std::size_t index = (next_other_ + tried) % others_.size();
        if (std::string_view(others_[index].bytes, others_[index].size) == name) {
            next_other_ = index + 1;
            return true;
        }
    }
    return false;
}

bool DiskSource::is_in_sysfs(std::string_view name) noexcept {
    const std::size_t directory_bytes = block_path_.size();
    block_path_.append(name);
    std::replace(block_path_.begin() + static_cast<std::ptrdiff_t>(directory_bytes), block_path_.end(), '/', '!');
    const bool exists = ::access(block_path_.c_str(), F_OK) == 0;
    block_path_.resize(directory_bytes);
    return exists;
}

}  // namespace telegate::host
