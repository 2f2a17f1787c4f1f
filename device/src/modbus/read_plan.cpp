#include "modbus/read_plan.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace telegate::modbus {

ReadPlan::ReadPlan(std::vector<AddressRange> channels, PlanLimits limits)
    : channels_(std::move(channels)), limits_(limits), order_(channels_.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    // At the same address, the longest channel comes first, so that it contains the others.
    std::stable_sort(order_.begin(), order_.end(), [this](std::uint32_t left, std::uint32_t right) {
        const AddressRange& a = channels_[left];
        const AddressRange& b = channels_[right];
        return std::tie(a.unit, a.table, a.address, b.count) < std::tie(b.unit, b.table, b.address, a.count);
    });
    reads_.reserve(channels_.size());
    merge();
}

void ReadPlan::merge() noexcept {
    is_split_ = false;
    reads_.clear();
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const AddressRange& next = channels_[order_[i]];
        if (!reads_.empty() && may_join(reads_.back().range, next)) {
            PlannedRead& read = reads_.back();
            const unsigned end = std::max(read.range.end(), next.end());
            read.range.count = static_cast<std::uint16_t>(end - read.range.address);
            ++read.channels;
        } else {
            reads_.push_back({next, i, 1});
        }
    }
}

bool ReadPlan::may_join(const AddressRange& read, const AddressRange& next) const noexcept {
    if (read.unit != next.unit || read.table != next.table) {
        return false;
    }
    const bool bits = has_bits(read.table);
    const unsigned gap_max = bits ? limits_.gap_max * register_bits : limits_.gap_max;
    const unsigned count_max = bits ? PlanLimits::bits_max : limits_.registers_max;
    return next.address <= read.end() + gap_max && std::max(read.end(), next.end()) - read.address <= count_max;
}

bool ReadPlan::split(std::size_t read) noexcept {
    const PlannedRead whole = reads_[read];
    const std::size_t parts = parts_of(whole, whole.channels).count;
    if (parts == 1) {
        return false;
    }
    const Parts first = parts_of(whole, parts / 2);
    PlannedRead half{channels_[order_[whole.first]], whole.first, first.channels};
    half.range.count = static_cast<std::uint16_t>(first.end - half.range.address);
    PlannedRead rest{channels_[order_[whole.first + half.channels]], whole.first + half.channels,
                     whole.channels - half.channels};
    rest.range.count = static_cast<std::uint16_t>(whole.range.end() - rest.range.address);
    reads_[read] = half;
    reads_.insert(reads_.begin() + static_cast<std::ptrdiff_t>(read) + 1, rest);
    is_split_ = true;
    return true;
}

/// A channel contained in an earlier one belongs to its part.
ReadPlan::Parts ReadPlan::parts_of(const PlannedRead& read, std::size_t parts_max) const noexcept {
    Parts parts;
    for (std::size_t i = read.first; i < read.first + read.channels; ++i) {
        const AddressRange& next = channels_[order_[i]];
        const bool begins = parts.count == 0 || next.end() > parts.part_end;
        if (begins && parts.count == parts_max) {
            break;
        }
        if (begins) {
            ++parts.count;
            parts.part_end = next.end();
        }
        parts.end = std::max(parts.end, next.end());
        ++parts.channels;
    }
    return parts;
}

}  // namespace telegate::modbus
