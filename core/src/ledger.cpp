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

constexpr std::size_t block_channels = 256;
constexpr std::size_t blocks = ChannelTable::channels_max / block_channels;

}  // namespace

struct Ledger::DropCell {
    std::atomic<std::uint64_t> count{0};
    std::atomic<std::uint64_t> first_seq{0};
    std::atomic<std::uint64_t> last_seq{0};
};

struct Ledger::DropBlock {
    std::array<DropCell, block_channels> cells;
};

std::string_view to_string(DropReason reason) noexcept {
    switch (reason) {
        case DropReason::queue_overflow: return "queue_overflow";
        case DropReason::shutdown: return "shutdown";
    }
    return "";
}

std::uint64_t Books::dropped_total() const noexcept {
    return std::accumulate(dropped.begin(), dropped.end(), std::uint64_t{0});
}

bool Books::balanced() const noexcept {
    return sampled == published + dropped_total() + filtered + queued;
}

Books& Books::operator+=(const Books& other) noexcept {
    sampled += other.sampled;
    published += other.published;
    filtered += other.filtered;
    queued += other.queued;
    for (std::size_t reason = 0; reason < drop_reasons; ++reason) {
        dropped[reason] += other.dropped[reason];
    }
    return *this;
}

Books& Books::operator-=(const Books& other) noexcept {
    sampled -= other.sampled;
    published -= other.published;
    filtered -= other.filtered;
    queued -= other.queued;
    for (std::size_t reason = 0; reason < drop_reasons; ++reason) {
        dropped[reason] -= other.dropped[reason];
    }
    return *this;
}

Ledger::Ledger(std::size_t devices, const ChannelTable& channels)
    : devices_(devices),
      channels_(channels),
      producer_(devices * producer_cells),
      consumer_(devices * consumer_cells),
      drop_blocks_(std::make_unique<std::atomic<DropBlock*>[]>(blocks)) {}

Ledger::~Ledger() {
    for (std::size_t block = 0; block < blocks; ++block) {
        delete drop_blocks_[block].load();
    }
}

void Ledger::captured(DeviceId device, std::uint64_t count) noexcept {
    const std::size_t base = to_index(device) * producer_cells;
    producer_.begin();
    producer_.add(base + cell_sampled, count);
    producer_.add(base + cell_offered, count);
    producer_.commit();
}

void Ledger::filtered(DeviceId device, std::uint64_t count) noexcept {
    const std::size_t base = to_index(device) * producer_cells;
    producer_.begin();
    producer_.add(base + cell_sampled, count);
    producer_.add(base + cell_filtered, count);
    producer_.commit();
}

void Ledger::dropped_at_queue(const TelemetrySample& sample, DropReason reason) {
    note_drop(sample);
    const std::size_t base = to_index(channels_.at(sample.channel).device_id) * producer_cells;
    producer_.begin();
    producer_.add(base + cell_dropped_first + static_cast<std::size_t>(reason), 1);
    producer_.commit();
}

void Ledger::taken(std::span<const std::uint64_t> taken, std::span<const std::uint64_t> published) noexcept {
    TELEGATE_ASSERT(taken.size() <= devices_ && published.size() == taken.size());
    consumer_.begin();
    for (std::size_t device = 0; device < taken.size(); ++device) {
        consumer_.add(device * consumer_cells + cell_taken, taken[device]);
        consumer_.add(device * consumer_cells + cell_published, published[device]);
    }
    consumer_.commit();
}

void Ledger::dropped_at_pump(const TelemetrySample& sample, DropReason reason) {
    note_drop(sample);
    const std::size_t base = to_index(channels_.at(sample.channel).device_id) * consumer_cells;
    consumer_.begin();
    consumer_.add(base + cell_taken, 1);
    consumer_.add(base + cell_discarded_first + static_cast<std::size_t>(reason), 1);
    consumer_.commit();
}

std::vector<Books> Ledger::cut(std::size_t devices) const {
    TELEGATE_ASSERT(devices <= devices_);
    std::vector<std::uint64_t> consumer(devices * consumer_cells);
    std::vector<std::uint64_t> producer(devices * producer_cells);
    // The consumer first: whatever it had taken by then had been captured before, so the producer's page, read later,
    // holds it. Samples captured in between count as queued.
    consumer_.copy(consumer);
    producer_.copy(producer);

    std::vector<Books> books(devices);
    for (std::size_t device = 0; device < devices; ++device) {
        const std::uint64_t* in = &producer[device * producer_cells];
        const std::uint64_t* out = &consumer[device * consumer_cells];
        Books& book = books[device];
        book.sampled = in[cell_sampled];
        book.filtered = in[cell_filtered];
        book.published = out[cell_published];
        book.queued = in[cell_offered] - out[cell_taken];
        for (std::size_t reason = 0; reason < drop_reasons; ++reason) {
            book.queued -= in[cell_dropped_first + reason];
            book.dropped[reason] = in[cell_dropped_first + reason] + out[cell_discarded_first + reason];
        }
    }
    return books;
}

void Ledger::note_drop(const TelemetrySample& sample) {
    std::atomic<DropBlock*>& slot = drop_blocks_[to_index(sample.channel) / block_channels];
    DropBlock* block = slot.load(std::memory_order_acquire);
    if (block == nullptr) {
        auto fresh = std::make_unique<DropBlock>();
        if (slot.compare_exchange_strong(block, fresh.get())) {
            block = fresh.release();
        }
    }
    DropCell& cell = block->cells[to_index(sample.channel) % block_channels];
    std::uint64_t none = 0;
    cell.first_seq.compare_exchange_strong(none, sample.seq);
    cell.last_seq.store(sample.seq, std::memory_order_relaxed);
    cell.count.fetch_add(1, std::memory_order_release);
}

ChannelDrops Ledger::drops_of(ChannelId channel) const noexcept {
    const DropBlock* block = drop_blocks_[to_index(channel) / block_channels].load(std::memory_order_acquire);
    if (block == nullptr) {
        return {};
    }
    const DropCell& cell = block->cells[to_index(channel) % block_channels];
    ChannelDrops drops;
    drops.count = cell.count.load(std::memory_order_acquire);
    drops.first_seq = cell.first_seq.load(std::memory_order_relaxed);
    drops.last_seq = cell.last_seq.load(std::memory_order_relaxed);
    return drops;
}

}  // namespace telegate
