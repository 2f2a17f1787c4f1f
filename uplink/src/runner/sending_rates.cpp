#include "uplink/sending_rates.hpp"

#include <algorithm>

namespace telegate::uplink {

void SendingRates::refill(MonoTime now, double samples, double entries) noexcept {
    samples_.refill(now, samples);
    entries_.refill(now, entries);
}

MonoTime SendingRates::due(const OutgoingMessage& message) const noexcept {
    const double samples = message.is_historical ? static_cast<double>(message.samples) : 0;
    const double entries = message.is_historical ? static_cast<double>(message.entries()) : 0;
    return std::max(samples_.due(samples), entries_.due(entries));
}

void SendingRates::take(const OutgoingMessage& message) noexcept {
    samples_.take(static_cast<double>(message.samples));
    entries_.take(static_cast<double>(message.entries()));
}

}  // namespace telegate::uplink
