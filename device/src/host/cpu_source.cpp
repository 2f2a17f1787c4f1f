#include "host/cpu_source.hpp"

#include "core/text.hpp"
#include "host/text_scan.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace telegate::host {
namespace {

constexpr std::array<const char*, CpuUse::modes> mode_names{"user",   "nice", "system",  "idle",
                                                            "iowait", "irq",  "softirq", "steal"};
constexpr std::size_t idle_mode = 3;
constexpr std::size_t iowait_mode = 4;

struct Line {
    std::string_view name;
    std::array<std::uint64_t, CpuUse::modes> times{};
    std::size_t count = 0;
};

/// Takes the next line if it is a CPU line; these come first in the file.
std::optional<Line> take_cpu_line(std::string_view& text) noexcept {
    if (!text.starts_with("cpu")) {
        return std::nullopt;
    }
    std::string_view rest = take_line(text);
    Line line;
    line.name = take_word(rest);
    line.count = read_numbers(rest, line.times);
    return line;
}

std::optional<std::size_t> core_number(const Line& line) noexcept {
    return parse_number<std::size_t>(line.name.substr(3));
}

std::uint64_t sum(std::span<const std::uint64_t> numbers) noexcept {
    return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
}

}  // namespace

void CpuUse::open(SampleBatch& batch, const std::string& prefix) {
    for (std::size_t mode = 0; mode < modes; ++mode) {
        channels_[mode] = batch.add_channel(prefix + '.' + mode_names[mode], "%");
    }
    busy_channel_ = batch.add_channel(prefix + ".busy", "%");
    is_open_ = true;
}

void CpuUse::update(SampleBatch& batch, std::span<const std::uint64_t> times) {
    if (times.size() == count_ && sum(times) > sum(std::span(times_).first(count_))) {
        std::array<std::uint64_t, modes> steps{};
        for (std::size_t mode = 0; mode < count_; ++mode) {
            steps[mode] = times[mode] > times_[mode] ? times[mode] - times_[mode] : 0;
        }
        add_samples(batch, std::span(steps).first(count_));
    }
    count_ = times.size();
    std::copy(times.begin(), times.end(), times_.begin());
}

void CpuUse::add_samples(SampleBatch& batch, std::span<const std::uint64_t> steps) const {
    const auto total = static_cast<double>(sum(steps));
    for (std::size_t mode = 0; mode < steps.size(); ++mode) {
        batch.add(channels_[mode], 100.0 * static_cast<double>(steps[mode]) / total);
    }
    if (steps.size() > idle_mode) {
        const std::uint64_t waiting = steps.size() > iowait_mode ? steps[iowait_mode] : 0;
        batch.add(busy_channel_, 100.0 * (total - static_cast<double>(steps[idle_mode] + waiting)) / total);
    }
}

CpuSource::CpuSource(const std::string& proc_root, bool per_core) : file_(proc_root + "/stat"), per_core_(per_core) {}

void CpuSource::open(const Tick& tick) {
    total_.open(tick.batch, "cpu");
    if (!per_core_) {
        return;
    }
    left_out_channel_ = tick.batch.add_channel("cpu.left_out", "1");
    std::string_view text = file_.read(tick.buffer).value_or("");
    while (const auto line = take_cpu_line(text)) {
        if (const auto number = core_number(*line)) {
            core(tick.batch, *number);
        }
    }
}

void CpuSource::add_later_names(std::vector<std::string>& names) const {
    if (!per_core_) {
        return;
    }
    for (const char* const mode : mode_names) {
        names.push_back(std::string("cpu*.") + mode);
    }
    names.emplace_back("cpu*.busy");
}

void CpuSource::read(const Tick& tick) {
    auto text = file_.read(tick.buffer);
    if (!text) {
        reset();
        return;
    }
    const auto line = take_cpu_line(*text);
    if (!line || line->name != "cpu") {
        reset();
        return;
    }
    total_.update(tick.batch, std::span(line->times).first(line->count));
    if (per_core_) {
        read_cores(tick, *text);
    }
}

void CpuSource::read_cores(const Tick& tick, std::string_view text) {
    std::int64_t left_out = 0;
    for (Core& core : cores_) {
        core.updated = false;
    }
    while (const auto line = take_cpu_line(text)) {
        const auto number = core_number(*line);
        if (!number) {
            continue;
        }
        if (Core* const known = core(tick.batch, *number)) {
            known->use.update(tick.batch, std::span(line->times).first(line->count));
            known->updated = true;
        } else {
            ++left_out;
        }
    }
    for (Core& core : cores_) {
        if (!core.updated) {
            core.use.forget_reading();
        }
    }
    tick.batch.add(left_out_channel_, left_out);
}

void CpuSource::reset() noexcept {
    total_.forget_reading();
    for (Core& core : cores_) {
        core.use.forget_reading();
    }
}

CpuSource::Core* CpuSource::core(SampleBatch& batch, std::size_t number) {
    if (number >= cores_max) {
        return nullptr;
    }
    if (number >= cores_.size()) {
        cores_.resize(number + 1);
    }
    Core& core = cores_[number];
    if (!core.use.is_open()) {
        core.use.open(batch, "cpu" + std::to_string(number));
    }
    return &core;
}

}  // namespace telegate::host
