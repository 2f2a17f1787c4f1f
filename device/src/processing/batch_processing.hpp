#pragma once

#include "device/processing.hpp"
#include "device/sample_batch.hpp"
#include "processing/channel_pipeline.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace telegate {

/// The processed channels of one batch, the channels derived from them, and the suppressed samples since the last
/// report.
///
/// Threads: those of the batch.
/// Limits: memory for the processed channels is allocated when they are declared. Suppressed samples are reported when
/// there are filtered_samples_max, or earlier.
/// Failure: none.
class SampleBatch::Processing {
  public:
    static constexpr std::uint64_t filtered_samples_max = Ledger::batch_samples_max;

    Processing(SampleBatch& batch, ProcessingPlan plan, ProcessingObserver observer)
        : batch_(batch), plan_(std::move(plan)), observer_(std::move(observer)) {}

    /// Moves the state of each channel out of `before`, including channels that are declared later. An alarm that the
    /// plan no longer contains is forgotten: if it is added again, it starts like a new one.
    void continue_from(Processing& before);

    /// Returns nullptr if the plan does not contain the channel.
    [[nodiscard]] const ChannelProcessing* find(std::string_view channel) const;
    /// Declares a channel of the plan, and its derived channels.
    [[nodiscard]] Channel add(const std::string& name, std::string_view unit, const ChannelProcessing& how);

    /// Processes a number from the device.
    template <class Number>
    void process_number(Slot& slot, Number value, Quality quality) {
        Entry& entry = entries_[slot.processed];
        slot.tick = batch_.tick_;
        record_times(entry);
        const processing::Outcome outcome =
            entry.pipeline.process({static_cast<double>(value), batch_.reading_ns_, quality});
        if (outcome.window_closed) {
            report_window(slot.processed);
        }
        if (outcome.suppressed) {
            count_filtered(slot.processed, *outcome.suppressed);
        } else {
            TelemetrySample& sample = batch_.next(slot, outcome.reading.quality);
            if (!outcome.reading.has_value) {
                sample.type = ValueType::none;
                batch_.count_bad(outcome.reading.quality);
            } else if (std::is_same_v<Number, std::int64_t> && !entry.pipeline.makes_reals()) {
                sample.type = ValueType::integer;
                sample.value.integer = static_cast<std::int64_t>(value);
            } else {
                sample.type = ValueType::real;
                sample.value.real = outcome.reading.value;
            }
        }
        finish(slot, outcome);
    }
    /// Processes any other value from the device, with its flags and quality.
    void process(Slot& slot, const TelemetrySample& raw);
    /// Begins a tick: closes windows and ends alarm delays.
    void begin_tick() {
        if (batch_.time_mono_ns_ >= due_ns_) {
            advance();
        }
    }
    void report_filtered();

  private:
    struct Entry {
        processing::ChannelPipeline pipeline;
        std::uint64_t filtered = 0;  // not reported yet
    };
    /// The rarely used part of an entry.
    struct Made {
        ChannelId of;
        std::string name;
        std::array<Channel, aggregate_kinds> aggregates;  // none: not requested
        Channel alarm = Channel::none;                    // none: not requested
        std::vector<ValueText> texts;                     // ascending values
    };
    /// The state of a channel of an earlier batch that this batch has not declared yet.
    struct Past {
        ChannelId of;
        std::string name;
        processing::ChannelPipeline pipeline;
    };

    [[nodiscard]] Channel add_made(const std::string& of, std::string_view ending, std::string_view unit);
    void continue_past(std::uint32_t index);
    void record_times(Entry& entry) const noexcept {
        if (entry.pipeline.has_later_stages()) {
            entry.pipeline.record_times({.reading_ns = batch_.reading_ns_,
                                         .utc_ns = batch_.is_time_given_ ? batch_.reading_ns_ : batch_.time_utc_ns_,
                                         .arrival_ns = batch_.arrival_ns_,
                                         .is_given = batch_.is_time_given_});
        }
    }
    void advance();
    /// Runs after the sample itself: adds texts and reports alarms.
    void finish(const Slot& slot, const processing::Outcome& outcome) {
        if (entries_[slot.processed].pipeline.has_later_stages()) {
            finish_later_stages(slot.processed, outcome);
        }
    }
    void finish_later_stages(std::uint32_t index, const processing::Outcome& outcome);
    void show_text(std::uint32_t index);
    void report_window(std::uint32_t index);
    void update_alarm(std::uint32_t index);
    void report_alarm(std::uint32_t index);
    void count_filtered(std::uint32_t index, FilterReason reason) {
        if (entries_[index].filtered++ == 0) {
            changed_.push_back(index);
        }
        ++by_reason_[static_cast<std::size_t>(reason)];
        if (++filtered_ == filtered_samples_max) {
            report_filtered();
        }
    }

    SampleBatch& batch_;
    const ProcessingPlan plan_;
    const ProcessingObserver observer_;
    std::vector<Entry> entries_;
    std::vector<Made> made_;                                          // parallel to entries_
    std::vector<Past> past_;                                          // sorted by id
    std::int64_t due_ns_ = std::numeric_limits<std::int64_t>::max();  // the next end of a window or delay
    // entries with `filtered`; reserved for all entries
    std::vector<std::uint32_t> changed_;
    std::vector<FilteredCount> counts_;  // reserved for all entries
    FilterCounts by_reason_{};
    std::uint64_t filtered_ = 0;
};

}  // namespace telegate
