#include "modbus/read_plan.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace telegate::modbus {

ReadPlan::ReadPlan(std::vector<Stretch> channels, PlanLimits limits)
    : channels_(std::move(channels)), limits_(limits), order_(channels_.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    // At the same address, the longest channel comes first, so that it contains the others.
    std::stable_sort(order_.begin(), order_.end(), [this](std::uint32_t left, std::uint32_t right) {
        const Stretch& a = channels_[left];
        const Stretch& b = channels_[right];
        return std::tie(a.unit, a.table, a.address, b.count) < std::tie(b.unit, b.table, b.address, a.count);
    });
    reads_.reserve(channels_.size());
    merge();
}

void ReadPlan::merge() noexcept {
    reads_.clear();
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const Stretch& next = channels_[order_[i]];
        if (!reads_.empty() && may_join(reads_.back().stretch, next)) {
            PlannedRead& read = reads_.back();
            const unsigned end = std::max(read.stretch.end(), next.end());
            read.stretch.count = static_cast<std::uint16_t>(end - read.stretch.address);
            ++read.channels;
        } else {
            reads_.push_back({next, i, 1});
        }
    }
}

bool ReadPlan::may_join(const Stretch& read, const Stretch& next) const noexcept {
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
    const auto is_held = [](const Stretch& by, const Stretch& what) {
        return what.end() <= by.end();
    };
    // In two passes, so that the requests are inserted only once.
    std::size_t parts = 0;
    PlannedRead part;
    const auto for_each_part = [&](auto&& use) {
        for (std::size_t i = whole.first; i < whole.first + whole.channels; ++i) {
            const Stretch& next = channels_[order_[i]];
            if (i > whole.first && is_held(part.stretch, next)) {
                ++part.channels;
            } else {
                part = {next, i, 1};
                ++parts;
            }
            use();
        }
    };
    for_each_part([] {});
    if (parts == 1) {
        return false;
    }
    const auto place = reads_.begin() + static_cast<std::ptrdiff_t>(read);
    reads_.insert(place, parts - 1, PlannedRead{});
    parts = 0;
    for_each_part([&] { reads_[read + parts - 1] = part; });
    return true;
}

}  // namespace telegate::modbus
