#pragma once

#include "sample.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {
class JsonObject;
}

namespace telegate::tail {

/// A record of the samples that were output and lost, by topic and epoch. It is built from the output alone, so it
/// detects a sample that is output twice.
///
/// Threads: one.
/// Limits: entries_max ranges and epochs of topics in total; further ones are counted but not listed. There are only a
/// few doubts.
/// Failure: std::bad_alloc.
class Account {
  public:
    struct Counts {
        std::uint64_t samples = 0;
        std::uint64_t recovered = 0;
        std::uint64_t lost = 0;
        std::uint64_t duplicates = 0;
        std::array<std::uint64_t, reasons> lost_by_reason{};
    };

    void add(const Sample& sample) {
        ++counts_.samples;
        counts_.recovered += sample.replayed ? 1 : 0;
        if (sample.topic_index < topics_.size() && !topics_[sample.topic_index].epochs.empty()) {
            Epoch& epoch = topics_[sample.topic_index].epochs.back();
            if (epoch.id == sample.epoch && !epoch.received.empty() && epoch.received.back().last + 1 == sample.seq) {
                epoch.received.back().last = sample.seq;
                return;
            }
        }
        add_first(sample);
    }
    void lose(const Gap& gap);
    void end_unknown(std::int64_t epoch);
    /// Adds a doubt: samples whose seqs are unknown may be missing. `word` is its key in the report, `words` the line
    /// in the summary.
    void doubt(std::string_view word, const std::string& words) { doubts_.emplace_back(word, words); }
    /// Marks the end of this epoch as doubtful in the report: it may have continued.
    void doubt_end(std::int64_t epoch) { doubtful_ends_.insert(epoch); }

    [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
    /// Returns whether a sample was output for a topic that begins with `prefix`.
    [[nodiscard]] bool has_sample_of(std::string_view prefix) const;
    /// Returns whether samples were or may have been lost.
    [[nodiscard]] bool is_in_doubt() const noexcept {
        return counts_.lost > 0 || !unknown_ends_.empty() || !doubts_.empty();
    }

    /// Returns the summary as lines of text, with at most `ranges_max` lost ranges.
    [[nodiscard]] std::string summary(std::chrono::milliseconds duration, std::size_t ranges_max) const;
    /// Returns the complete record as one JSON object; docs/tail.md describes its keys.
    [[nodiscard]] std::string report() const;

    static constexpr std::size_t entries_max = 1'000'000;  // mostly of 32 bytes each

  private:
    struct Range {
        std::uint64_t first;
        std::uint64_t last;
        Reason reason;
    };
    struct Epoch {
        std::int64_t id;
        std::vector<Range> received;
        std::vector<Range> lost;
        std::uint64_t duplicates = 0;  // seq not greater than the previous one
    };
    struct Topic {
        std::string name;
        std::vector<Epoch> epochs;
    };

    void add_first(const Sample& sample);
    [[nodiscard]] bool take_entry() noexcept;
    Epoch* epoch_of(std::string_view topic, std::uint32_t index, std::int64_t id);
    [[nodiscard]] std::set<std::int64_t> epochs() const;
    void add_epoch(JsonObject& object, std::int64_t id) const;
    static void append_lost(std::string& out, const Topic& topic, const Epoch& epoch, std::size_t count);

    std::vector<Topic> topics_;
    std::set<std::int64_t> unknown_ends_;   // already reported to the user
    std::set<std::int64_t> doubtful_ends_;  // reported in the summary only
    std::vector<std::pair<std::string_view, std::string>> doubts_;
    Counts counts_;
    std::size_t entries_ = 0;
    bool is_complete_ = true;
};

}  // namespace telegate::tail
