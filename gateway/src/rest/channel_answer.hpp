#pragma once

#include "durable/channel_read.hpp"

#include "store/interval_table.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

class JsonObject;

/// The body of GET /samples/DEVICE/CHANNEL, created from the parts of a ChannelRead.
///
/// Threads: one at a time. Limits: see the implementations. Failure: std::bad_alloc.
class ChannelAnswer {
  public:
    ChannelAnswer() = default;
    virtual ~ChannelAnswer() = default;
    ChannelAnswer(const ChannelAnswer&) = delete;
    ChannelAnswer& operator=(const ChannelAnswer&) = delete;

    /// Adds a part, and returns whether there is capacity for more.
    [[nodiscard]] virtual bool add(const ChannelPart& part) = 0;
    [[nodiscard]] virtual bool is_empty() const noexcept = 0;
    /// Adds the members of the body. `topic`: of the channel.
    virtual void list(JsonObject& out, const std::string& topic) const = 0;
    [[nodiscard]] std::string body(const std::string& topic) const;

  protected:
    std::string unit_;  // of the last part
};

/// Samples and gaps. Limits: `limit` samples, and as many gaps.
class SampleListAnswer final : public ChannelAnswer {
  public:
    static constexpr std::size_t samples_max = 10'000;  // per response: about 2 MB
    static constexpr std::size_t samples_default = 100;

    struct Wanted {
        std::optional<std::int64_t> epoch_ms;
        std::optional<std::uint64_t> since_seq;
        bool is_newest = false;  // the newest samples; otherwise the first ones
        std::size_t limit = samples_default;
    };
    /// `text`: of this epoch; samples of earlier epochs have the same labels.
    SampleListAnswer(SampleText& text, const Wanted& wanted) : text_(text), wanted_(wanted) {}

    [[nodiscard]] bool add(const ChannelPart& part) override;
    [[nodiscard]] bool is_empty() const noexcept override { return samples_.empty() && gaps_.empty(); }
    void list(JsonObject& out, const std::string& topic) const override;
    /// Returns whether nothing that was requested is missing, if `last_seq` is the last known number of the channel.
    [[nodiscard]] bool is_complete(std::uint64_t last_seq) const noexcept;

  private:
    struct Sample {
        std::int64_t epoch_ms = 0;
        TelemetrySample sample;
    };
    struct Gap {
        std::int64_t epoch_ms = 0;
        store::LogGap gap;
    };

    [[nodiscard]] bool add(std::int64_t epoch_ms, const TelemetrySample& sample);
    [[nodiscard]] bool add(std::int64_t epoch_ms, const store::LogGap& gap);
    void record_end(std::int64_t epoch_ms, std::uint64_t seq) noexcept;
    void append_samples(std::string& out, const std::string& topic) const;

    SampleText& text_;
    const Wanted wanted_;
    std::deque<Sample> samples_;
    std::deque<Gap> gaps_;
    bool has_more_ = false;
    std::int64_t end_epoch_ms_ = 0;  // the last entry
    std::uint64_t end_seq_ = 0;
};

/// Intervals. Limits: intervals_max intervals.
class IntervalAnswer final : public ChannelAnswer {
  public:
    static constexpr std::size_t intervals_max = 10'000;  // per response: about 1 MB

    /// The columns that a request can select.
    static constexpr std::array<std::string_view, 6> aggregates{"min",   "max",        "mean",
                                                                "count", "first_time", "last_time"};

    struct Wanted {
        std::int64_t since_ns = 0;
        std::int64_t until_ns = 0;
        std::chrono::milliseconds interval{};
        std::vector<std::string_view> columns;  // of aggregates
    };
    explicit IntervalAnswer(const Wanted& wanted) : wanted_(wanted), table_(wanted.interval, intervals_max + 1) {}

    [[nodiscard]] bool add(const ChannelPart& part) override;
    [[nodiscard]] bool is_empty() const noexcept override { return table_.intervals().empty(); }
    void list(JsonObject& out, const std::string& topic) const override;

  private:
    const Wanted wanted_;
    store::IntervalTable table_;
};

/// Describe the bodies. Threads: any.
void describe_sample_list(JsonObject& out);
void describe_intervals(JsonObject& out);

}  // namespace telegate
