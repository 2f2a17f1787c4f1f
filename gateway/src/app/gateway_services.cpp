#include "app/gateway.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

// The parts of the services, and the state that they find after a restart.

namespace telegate {

ServicesParts Gateway::services_parts() {
    return {.reactor = reactor_,
            .pump = pump_,
            .status = [this] { return rest_.status_body(); },
            .monitor =
                [this](const MonitorEvent& event) {
                    endpoint_trouble_.record(event);
                    peer_log_.log_trouble(event, "service client");
                },
            .answers = {.channels = channels_,
                        .ledger = ledger_,
                        .history = consumers_.history,
                        .pump = pump_,
                        .past = state_file_,
                        .text = sample_text_,
                        .log = log_history_.get()}};
}

EpochLedger Gateway::epoch_ledger() const {
    EpochLedger result;
    result.time_utc_ms = clock_.utc_now_ns() / 1'000'000;
    for (const LedgerCounts& counts : ledger_.cut(sampler_.names())) {
        result.counts += counts;
    }
    return result;
}

MonoTime Gateway::write_state() {
    constexpr std::size_t small_bytes_max = 1024 * 1024;
    const std::size_t bytes = state_file_.record(epoch_ledger());
    return clock_.mono_now() + (bytes <= small_bytes_max ? state_interval : state_interval_large);
}

/// Called when no more samples can be captured, published or dropped.
void Gateway::end_epoch() {
    std::map<std::string, std::uint64_t, std::less<>> last_seqs;
    for (std::size_t i = 0; state_file_.is_kept() && i < channels_.size(); ++i) {
        const auto id = static_cast<ChannelId>(i);
        const std::uint64_t last = std::max(pump_.last_seq(id), ledger_.drops_of(id).last_seq);
        if (last > 0) {
            last_seqs.emplace(channels_.at(id).topic, last);
        }
    }
    state_file_.end(std::move(last_seqs), consumers_.history.position(), epoch_ledger());
}

}  // namespace telegate
