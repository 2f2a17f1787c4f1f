#include "rate_table.hpp"

#include "sample_text.hpp"
#include "time_words.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace telegate::tail {
namespace {

constexpr std::size_t width_min = 20;
constexpr std::size_t width_max = 48;
constexpr std::size_t cell_width = 12;

std::string decimal(double number, int decimals) {
    std::array<char, 64> text;
    const int bytes = std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
    return {text.data(), static_cast<std::size_t>(std::clamp(bytes, 0, 63))};
}

}  // namespace

RateTable::Row& RateTable::row_of(std::string_view topic, std::uint32_t index) {
    if (rows_.size() <= index) {
        rows_.resize(index + 1);
    }
    Row& row = rows_[index];
    if (row.topic.empty()) {
        append_printable(row.topic, topic);
    }
    return row;
}

void RateTable::give(const Sample& sample, std::int64_t now_utc_ns) {
    Row& row = row_of(sample.topic, sample.topic_index);
    ++row.samples;
    ++row.fresh;
    const std::int64_t late_ns = now_utc_ns - sample.time_utc_ns;
    row.late_ns += late_ns;
    row.latest_ns = row.fresh == 1 ? late_ns : std::max(row.latest_ns, late_ns);
}

void RateTable::lose(const Gap& gap) {
    row_of(gap.topic, gap.topic_index).lost += gap.last_seq - gap.first_seq + 1;
}

void RateTable::append_row(std::string& out, const Row& row, double seconds, std::size_t width) {
    constexpr double ns_per_ms = 1e6;
    out += row.topic;
    pad(out, out.size() - row.topic.size(), width);
    const bool is_silent = row.fresh == 0;
    const auto fresh = static_cast<double>(row.fresh);
    const std::string cells[] = {decimal(fresh / seconds, 1),
                                 is_silent ? "-" : decimal(static_cast<double>(row.late_ns) / fresh / ns_per_ms, 2),
                                 is_silent ? "-" : decimal(static_cast<double>(row.latest_ns) / ns_per_ms, 2),
                                 grouped(row.samples), grouped(row.lost)};
    for (const std::string& cell : cells) {
        append_right(out, cell, cell_width);
    }
    out += '\n';
}

std::string RateTable::page(std::chrono::nanoseconds elapsed, std::size_t rows_max) {
    std::size_t width = width_min;
    for (const Row& row : rows_) {
        width = std::max(width, std::min(row.topic.size(), width_max));
    }
    std::string out = "topic";
    pad(out, 0, width);
    for (const char* const head : {"samples/s", "delay ms", "max ms", "samples", "lost"}) {
        append_right(out, head, cell_width);
    }
    out += '\n';
    const double seconds = std::max(1e-9, static_cast<double>(elapsed.count()) / 1e9);
    std::size_t left_out = 0;
    for (Row& row : rows_) {
        if (row.topic.empty()) {
            continue;  // no sample of this topic was output or lost yet
        }
        if (rows_max > 0) {
            --rows_max;
            append_row(out, row, seconds, width);
        } else {
            ++left_out;
        }
        row.fresh = 0;
        row.late_ns = 0;
    }
    if (left_out > 0) {
        out += "and " + counted(left_out, "more topic") + '\n';
    }
    return out;
}

}  // namespace telegate::tail
