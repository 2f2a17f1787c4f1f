#include "core/ledger.hpp"

#include "core/assert.hpp"

#include <numeric>

namespace telegate {
namespace {

// Cells of one device in each page. The producer's: what happened before the queue gave a sample to the pump.
enum ProducerCell : std::size_t { cell_sampled, cell_filtered, cell_offered, cell_dropped_first };
constexpr std::size_t producer_cells = cell_dropped_first + drop_reasons;

enum ConsumerCell : std::size_t { cell_taken, cell_published, cell_discarded_first };
constexpr std::size_t consumer_cells = cell_discarded_first + drop_reasons;

}  // namespace

std::string_view to_string(DropReason reason) noexcept {
    switch (reason) {
        case DropReason::queue_overflow: return "queue_overflow";
        case DropReason::shutdown: return "shutdown";
    }
    return "";
}

std::uint64_t LedgerCounts::dropped_total() const noexcept {
    return std::accumulate(dropped.begin(), dropped.end(), std::uint64_t{0});
}

bool LedgerCounts::balanced() const noexcept {
    return sampled == published + dropped_total() + filtered + queued;
}

LedgerCounts& LedgerCounts::operator+=(const LedgerCounts& other) noexcept {
    sampled += other.sampled;
    published += other.published;
    filtered += other.filtered;
    queued += other.queued;
    for (std::size_t reason = 0; reason < drop_reasons; ++reason) {
        dropped[reason] += other.dropped[reason];
    }
    return *this;
}

LedgerCounts& LedgerCounts::operator-=(const LedgerCounts& other) noexcept {
    sampled -= other.sampled;
    published -= other.published;
    filtered -= other.filtered;
    queued -= other.queued;
    for (std::size_t reason = 0; reason < drop_reasons; ++reason) {
        dropped[reason] -= other.dropped[reason];
    }
    return *this;
}

Ledger::Ledger(std::size_t devices, ChannelTable& channels)
    : devices_(devices),
      channels_(channels),
      producer_(devices * producer_cells),
      separate_(std::make_unique<std::atomic<CounterPage*>[]>(devices)),
      consumer_(devices * consumer_cells),
      blocks_(channels) {}

void Ledger::separate(DeviceId device) {
    std::atomic<CounterPage*>& page = separate_[to_index(device)];
    if (page.load(std::memory_order_relaxed) == nullptr) {
        pages_.push_back(std::make_unique<CounterPage>(producer_cells));
        page.store(pages_.back().get(), std::memory_order_release);
    }
}

Ledger::Page Ledger::page_of(DeviceId device) noexcept {
    CounterPage* const separate = separate_[to_index(device)].load(std::memory_order_acquire);
    return separate != nullptr ? Page{*separate, 0} : Page{producer_, to_index(device) * producer_cells};
}

void Ledger::captured(DeviceId device, std::span<const TelemetrySample> samples) noexcept {
    for (const TelemetrySample& sample : samples) {
        blocks_.of(sample.channel).captured[Blocks::slot(sample.channel)].store(sample.seq, std::memory_order_release);
    }
    const Page page = page_of(device);
    page.counters.begin();
    page.counters.add(page.base + cell_sampled, samples.size());
    page.counters.add(page.base + cell_offered, samples.size());
    page.counters.commit();
}

void Ledger::filtered(DeviceId device, std::span<const FilteredCount> counts) noexcept {
    std::uint64_t total = 0;
    for (const FilteredCount& each : counts) {
        std::atomic<std::uint64_t>& of_channel = blocks_.of(each.channel).filtered[Blocks::slot(each.channel)];
        of_channel.store(of_channel.load(std::memory_order_relaxed) + each.count, std::memory_order_release);
        total += each.count;
    }
    const Page page = page_of(device);
    page.counters.begin();
    page.counters.add(page.base + cell_sampled, total);
    page.counters.add(page.base + cell_filtered, total);
    page.counters.commit();
}

void Ledger::dropped_at_queue(const TelemetrySample& sample, DropReason reason) noexcept {
    const auto index = static_cast<std::size_t>(reason);
    blocks_.of(sample.channel).dropped_at_queue[Blocks::slot(sample.channel)][index].add(sample);
    const Page page = page_of(channels_.at(sample.channel).device_id);
    page.counters.begin();
    page.counters.add(page.base + cell_dropped_first + index, 1);
    page.counters.commit();
    marked_[to_index(sample.channel) / Block::channels].exchange(true, std::memory_order_release);
    drops_reported_.fetch_add(1, std::memory_order_release);
}

void Ledger::taken(std::span<const std::uint64_t> taken, std::span<const std::uint64_t> published) noexcept {
    TELEGATE_ASSERT(taken.size() <= devices_ && published.size() == taken.size());
    consumer_.begin();
    for (std::size_t device = 0; device < taken.size(); ++device) {
        if (taken[device] > 0) {
            consumer_.add(device * consumer_cells + cell_taken, taken[device]);
            consumer_.add(device * consumer_cells + cell_published, published[device]);
        }
    }
    consumer_.commit();
}

void Ledger::dropped_at_pump(const TelemetrySample& sample, DropReason reason) noexcept {
    const auto index = static_cast<std::size_t>(reason);
    blocks_.of(sample.channel).dropped_at_pump[Blocks::slot(sample.channel)][index].add(sample);
    const std::size_t base = to_index(channels_.at(sample.channel).device_id) * consumer_cells;
    consumer_.begin();
    consumer_.add(base + cell_taken, 1);
    consumer_.add(base + cell_discarded_first + index, 1);
    consumer_.commit();
}

std::vector<LedgerCounts> Ledger::cut(std::size_t devices) const {
    TELEGATE_ASSERT(devices <= devices_);
    std::vector<std::uint64_t> consumer(devices * consumer_cells);
    std::vector<std::uint64_t> producer(devices * producer_cells);
    // The consumer first, see Ledger.
    consumer_.copy(consumer);
    // Then the pages of separate threads: a sample that is dropped there may have been captured on the shared page.
    std::vector<std::uint64_t> separate(devices * producer_cells);
    for (std::size_t device = 0; device < devices; ++device) {
        if (const CounterPage* const page = separate_[device].load(std::memory_order_acquire)) {
            page->copy(std::span(separate).subspan(device * producer_cells, producer_cells));
        }
    }
    producer_.copy(producer);
    for (std::size_t cell = 0; cell < producer.size(); ++cell) {
        producer[cell] += separate[cell];
    }

    std::vector<LedgerCounts> counts(devices);
    for (std::size_t device = 0; device < devices; ++device) {
        const std::uint64_t* in = &producer[device * producer_cells];
        const std::uint64_t* out = &consumer[device * consumer_cells];
        LedgerCounts& entry = counts[device];
        entry.sampled = in[cell_sampled];
        entry.filtered = in[cell_filtered];
        entry.published = out[cell_published];
        entry.queued = in[cell_offered] - out[cell_taken];
        for (std::size_t reason = 0; reason < drop_reasons; ++reason) {
            entry.queued -= in[cell_dropped_first + reason];
            entry.dropped[reason] = in[cell_dropped_first + reason] + out[cell_discarded_first + reason];
        }
    }
    return counts;
}

ChannelLedgerCounts Ledger::counts_of(ChannelId channel) const noexcept {
    const Block& block = blocks_.of(channel);
    const std::size_t slot = Blocks::slot(channel);
    ChannelLedgerCounts counts;
    // Reads the consumer's side first, then the losses of the queue, then the captured samples: see Ledger.
    counts.published = block.progress[slot].published();
    for (std::size_t reason = 0; reason < drop_reasons; ++reason) {
        counts.drops[reason] = block.dropped_at_pump[slot][reason].read();
    }
    for (std::size_t reason = 0; reason < drop_reasons; ++reason) {
        counts.drops[reason] += block.dropped_at_queue[slot][reason].read();
        counts.dropped[reason] = counts.drops[reason].count;
    }
    counts.filtered = block.filtered[slot].load(std::memory_order_acquire);
    const std::uint64_t captured = block.captured[slot].load(std::memory_order_acquire);
    counts.sampled = captured + counts.filtered;
    counts.queued = captured - counts.published - counts.dropped_total();
    return counts;
}

ChannelDrops Ledger::drops_of(ChannelId channel) const noexcept {
    const ChannelLedgerCounts counts = counts_of(channel);
    return std::accumulate(counts.drops.begin(), counts.drops.end(), ChannelDrops{},
                           [](ChannelDrops sum, const ChannelDrops& drops) { return sum += drops; });
}

std::vector<LedgerCounts> Ledger::sums_of_channels(std::size_t devices) const {
    std::vector<LedgerCounts> sums(devices);
    for (std::size_t index = 0; index < channels_.size(); ++index) {
        const auto channel = static_cast<ChannelId>(index);
        const std::size_t device = to_index(channels_.at(channel).device_id);
        if (device < devices) {
            sums[device] += counts_of(channel);
        }
    }
    return sums;
}

bool Ledger::channels_agree(std::size_t devices) const {
    // Both sides count the channels first. The sums of the channels are therefore at least the first state of a device,
    // and at most the second state plus what is being counted.
    const std::vector<LedgerCounts> before = cut(devices);
    const std::vector<LedgerCounts> channels = sums_of_channels(devices);
    const std::vector<LedgerCounts> after = cut(devices);
    const auto is_between = [](std::uint64_t low, std::uint64_t value, std::uint64_t high) {
        return low <= value && value <= high + batch_samples_max;
    };
    for (std::size_t i = 0; i < devices; ++i) {
        if (!is_between(before[i].sampled, channels[i].sampled, after[i].sampled) ||
            !is_between(before[i].published, channels[i].published, after[i].published) ||
            !is_between(before[i].filtered, channels[i].filtered, after[i].filtered) ||
            !is_between(before[i].dropped_total(), channels[i].dropped_total(), after[i].dropped_total())) {
            return false;
        }
    }
    return true;
}

Ledger::LostUpTo Ledger::lost_up_to(ChannelId channel) const noexcept {
    const auto& records = blocks_.of(channel).dropped_at_queue[Blocks::slot(channel)];
    return {records[static_cast<std::size_t>(DropReason::queue_overflow)].last_seq(),
            records[static_cast<std::size_t>(DropReason::shutdown)].last_seq()};
}

void ChannelProgress::skip_to(std::uint64_t seq) noexcept {
    const std::uint64_t missing = missing_.load(std::memory_order_relaxed) + seq - reached();
    lock_.begin();
    missing_.store(missing, std::memory_order_release);
    reached_.store(seq, std::memory_order_release);
    lock_.commit();
}

std::uint64_t ChannelProgress::published() const noexcept {
    return lock_.read([this]() noexcept {
        const std::uint64_t missing = missing_.load(std::memory_order_acquire);
        return reached_.load(std::memory_order_acquire) - missing;
    });
}

CounterPage::CounterPage(std::size_t cells)
    : size_(cells), cells_(std::make_unique<std::atomic<std::uint64_t>[]>(cells)) {}

void CounterPage::copy(std::span<std::uint64_t> out) const noexcept {
    TELEGATE_ASSERT(out.size() <= size_);
    lock_.read([&]() noexcept {
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = cells_[i].load(std::memory_order_acquire);
        }
        return out.size();
    });
}

}  // namespace telegate
