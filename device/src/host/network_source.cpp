#include "host/network_source.hpp"

#include "core/text.hpp"
#include "host/text_scan.hpp"

#include <array>

namespace telegate::host {
namespace {

// Field numbers of a line of net/dev, counted after the colon.
enum NetworkField : std::size_t {
    rx_bytes = 0,
    rx_packets = 1,
    rx_errors = 2,
    rx_drops = 3,
    tx_bytes = 8,
    tx_packets = 9,
    tx_errors = 10,
    tx_drops = 11,
    network_field_count = 16,
};

constexpr std::array<CounterColumn, 8> network_counters{{
    {"rx_bytes", "By", rx_bytes, 1},
    {"rx_packets", "1", rx_packets, 1},
    {"rx_errors", "1", rx_errors, 1},
    {"rx_drops", "1", rx_drops, 1},
    {"tx_bytes", "By", tx_bytes, 1},
    {"tx_packets", "1", tx_packets, 1},
    {"tx_errors", "1", tx_errors, 1},
    {"tx_drops", "1", tx_drops, 1},
}};

// 800 Gbit/s and the corresponding number of packets; 32-bit counters are assumed to be on links of at most 10 Gbit/s.
constexpr RateLimits byte_limits{1e11, 1.25e9};
constexpr RateLimits packet_limits{1.2e9, 1.5e7};

constexpr std::array<RateColumn, 4> network_rates{{
    {"rx_rate", "By/s", rx_bytes, 1.0, byte_limits},
    {"rx_packets_rate", "1/s", rx_packets, 1.0, packet_limits},
    {"tx_rate", "By/s", tx_bytes, 1.0, byte_limits},
    {"tx_packets_rate", "1/s", tx_packets, 1.0, packet_limits},
}};

struct NetworkLine {
    std::string_view interface;  // empty in the two heading lines
    std::string_view numbers;
};

NetworkLine split_network_line(std::string_view line) noexcept {
    const std::size_t colon = line.rfind(':');  // the first number may follow it without a space
    if (colon == std::string_view::npos) {
        return {};
    }
    return {trimmed(line.substr(0, colon), blanks), line.substr(colon + 1)};
}

}  // namespace

NetworkSource::NetworkSource(const std::string& proc_root)
    : file_(proc_root + "/net/dev"), rows_(RowLayout{"net", network_counters, network_rates}) {}

void NetworkSource::open(const Tick& tick) {
    rows_.open(tick.batch);
    std::string_view text = file_.read(tick.buffer).value_or("");
    while (!text.empty()) {
        const NetworkLine line = split_network_line(take_line(text));
        if (!line.interface.empty()) {
            rows_.declare(tick.batch, line.interface);
        }
    }
}

void NetworkSource::read(const Tick& tick) {
    auto text = file_.read(tick.buffer);
    if (!text) {
        rows_.forget_readings();
        return;
    }
    rows_.begin_tick();
    while (!text->empty()) {
        const NetworkLine line = split_network_line(take_line(*text));
        if (!line.interface.empty()) {
            std::array<std::uint64_t, network_field_count> fields{};
            const std::size_t count = read_numbers(line.numbers, fields);
            rows_.update(tick, line.interface, std::span(fields).first(count));
        }
    }
    rows_.end_tick(tick);
}

}  // namespace telegate::host
