#pragma once

#include "encode/json_encoder.hpp"
#include "store/block.hpp"

#include "core/telemetry_sample.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The topics that a reader of samples wants.
struct SampleSelection {
    struct Seqs {
        std::uint64_t first = 1;
        std::uint64_t last = UINT64_MAX;

        bool operator==(const Seqs&) const = default;
    };
    std::vector<std::string> prefixes;                // of topics; none: all topics
    std::map<std::string, Seqs, std::less<>> topics;  // if there are any, only these

    /// Returns the wanted sequence numbers of a topic; nothing if there are none. A reader may return others too.
    [[nodiscard]] std::optional<Seqs> find(std::string_view topic) const {
        if (!topics.empty()) {
            const auto found = topics.find(topic);
            return found == topics.end() ? std::nullopt : std::optional(found->second);
        }
        const bool is_wanted = prefixes.empty() || std::any_of(prefixes.begin(), prefixes.end(), [&](const auto& each) {
                                   return topic.starts_with(each);
                               });
        return is_wanted ? std::optional(Seqs{}) : std::nullopt;
    }

    bool operator==(const SampleSelection&) const = default;
};

/// Where a reader of samples starts.
struct SampleStart {
    std::int64_t epoch_ms = 0;
    std::uint64_t position = 0;
    /// Starts at the first sample of this time or later instead, in UTC. `epoch_ms` must be this epoch.
    std::optional<std::int64_t> since_utc_ns = std::nullopt;
    /// With `since_utc_ns`: the sample may be of an earlier epoch, which is then read.
    bool finds_epoch = false;
    /// Starts with the first selected number of any topic instead, in the log.
    bool finds_topics = false;
};

/// Samples of one epoch in the order of publication, and what is missing of them. A position is the number of samples
/// that were published before in the epoch.
struct SamplePage {
    enum class State : std::uint8_t {
        more,           // continue at end_position
        memory,         // the log ends at end_position; the history has all samples after it
        ended,          // the epoch ended cleanly
        crashed,        // the epoch ended, and samples at its end may be missing
        unknown_epoch,  // the log has no data from the epoch
        late,           // no longer in the history, and not yet written to the log
        failed,         // the log cannot be read
    };
    /// Positions of samples that cannot be returned.
    struct Missing {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        std::optional<store::GapReason> reason;  // none: overwritten in the history
    };

    State state = State::more;
    bool is_from_log = false;
    std::int64_t epoch_ms = 0;
    std::int64_t next_epoch_ms = 0;    // at the end of an epoch or if it is unknown: the next one in the log; 0: none
    std::shared_ptr<SampleText> text;  // of the epoch; the channel ids below are those of its channels()
    std::vector<TelemetrySample> samples;
    std::vector<std::uint64_t> positions;  // of the samples
    /// From the log: gaps of wanted topics, by the index of the next sample. A gap may reach back to before the
    /// page.
    std::vector<store::BlockGap> gaps;
    std::vector<Missing> missing;  // in order
    std::uint64_t position = 0;    // of the start
    std::uint64_t end_position = 0;

    [[nodiscard]] bool is_epoch_over() const noexcept {
        return state == State::ended || state == State::crashed || state == State::unknown_epoch;
    }
    [[nodiscard]] std::uint64_t missed() const noexcept {
        std::uint64_t sum = 0;
        for (const Missing& each : missing) {
            sum += each.last - each.first + 1;
        }
        return sum;
    }
};

}  // namespace telegate
