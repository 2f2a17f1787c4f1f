#include "host/counter_rows.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace telegate::host {
namespace {

constexpr std::uint64_t range_32_bits = std::uint64_t{1} << 32;

}  // namespace

std::optional<double> counter_rate(std::uint64_t before, std::uint64_t now, double seconds,
                                   RateLimits limits) noexcept {
    if (!(seconds > 0.0)) {
        return std::nullopt;
    }
    std::uint64_t step = now - before;
    double per_second_max = limits.per_second_max;
    if (now < before) {
        step = (now + range_32_bits) - before;
        per_second_max = limits.wrapped_per_second_max;
        if (before >= range_32_bits || step >= range_32_bits / 2) {
            return std::nullopt;
        }
    }
    const double per_second = static_cast<double>(step) / seconds;
    return per_second <= per_second_max ? std::optional(per_second) : std::nullopt;
}

CounterRows::CounterRows(RowLayout layout) : layout_(layout) {
    TELEGATE_ASSERT(layout_.counters.size() + layout_.rates.size() <= columns_max);
}

void CounterRows::open(SampleBatch& batch) {
    left_out_channel_ = batch.add_channel(std::string(layout_.prefix) + ".left_out", "1");
}

void CounterRows::begin_tick() noexcept {
    next_row_ = 0;
    left_out_ = 0;
    for (Row& row : rows_) {
        row.updated = false;
    }
}

void CounterRows::update(const Tick& tick, std::string_view name, std::span<const std::uint64_t> fields) {
    const std::size_t index = find(name);
    if (index == rows_max) {
        ++left_out_;
        return;
    }
    if (index == rows_.size()) {
        add(tick.batch, name);
    }
    next_row_ = index + 1;
    Row& row = rows_[index];
    fields = fields.first(std::min(fields.size(), fields_max));
    add_samples(tick, row, fields);
    std::copy(fields.begin(), fields.end(), row.fields.begin());
    row.field_count = fields.size();
    row.time = tick.now;
    row.updated = true;
}

void CounterRows::end_tick(const Tick& tick) {
    for (Row& row : rows_) {
        if (!row.updated) {
            row.field_count = 0;  // a row that returns may be a different one of the same name
        }
    }
    tick.batch.add(left_out_channel_, left_out_);
}

void CounterRows::declare(SampleBatch& batch, std::string_view name) {
    if (rows_.size() < rows_max && !contains(name)) {
        add(batch, name);
    }
}

void CounterRows::forget_readings() noexcept {
    for (Row& row : rows_) {
        row.field_count = 0;
    }
}

std::size_t CounterRows::find(std::string_view name) const noexcept {
    for (std::size_t tried = 0; tried < rows_.size(); ++tried) {
        const std::size_t index = (next_row_ + tried) % rows_.size();
        if (rows_[index].name == name) {
            return index;
        }
    }
    return rows_.size();
}

void CounterRows::add(SampleBatch& batch, std::string_view name) {
    constexpr std::size_t part_bytes_max = 32;  // leaves space for the prefix and the longest column
    Row row;
    row.name = name;
    const std::string free = names_.find(std::string(layout_.prefix) + '.', name, part_bytes_max);
    const std::string stem = free + '.';
    auto channel = row.channels.begin();
    for (const CounterColumn& column : layout_.counters) {
        *channel++ = batch.add_channel(stem + column.name, column.unit);
    }
    for (const RateColumn& column : layout_.rates) {
        *channel++ = batch.add_channel(stem + column.name, column.unit);
    }
    names_.use(free);
    rows_.push_back(std::move(row));
}

void CounterRows::add_names(std::vector<std::string>& names) const {
    const std::string stem = std::string(layout_.prefix) + ".*.";
    for (const CounterColumn& column : layout_.counters) {
        names.push_back(stem + column.name);
    }
    for (const RateColumn& column : layout_.rates) {
        names.push_back(stem + column.name);
    }
}

void CounterRows::add_samples(const Tick& tick, const Row& row, std::span<const std::uint64_t> fields) const {
    auto channel = row.channels.begin();
    for (const CounterColumn& column : layout_.counters) {
        const auto value_max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / column.factor);
        if (column.field < fields.size() && fields[column.field] <= value_max) {
            tick.batch.add(*channel, static_cast<std::int64_t>(fields[column.field]) * column.factor);
        }
        ++channel;
    }
    const double seconds = std::chrono::duration<double>(tick.now - row.time).count();
    for (const RateColumn& column : layout_.rates) {
        if (column.field < std::min(fields.size(), row.field_count)) {
            const auto rate = counter_rate(row.fields[column.field], fields[column.field], seconds, column.limits);
            if (rate) {
                tick.batch.add(*channel, std::min(*rate * column.factor, column.value_max));
            }
        }
        ++channel;
    }
}

}  // namespace telegate::host
