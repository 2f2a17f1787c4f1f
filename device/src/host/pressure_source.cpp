#include "host/pressure_source.hpp"

#include "core/text.hpp"
#include "host/text_scan.hpp"

#include <utility>

namespace telegate::host {
namespace {

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

}  // namespace

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

}  // namespace telegate::host
