#pragma once

#include "core/telemetry_sample.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// The samples in the queues. Each contains its producer and its number, from 1 for each producer.
namespace telegate::perf {

/// The sample of TelemetryHub: it owns the text of its unit.
struct LabeledSample {
    std::chrono::system_clock::time_point time{};
    double value = 0.0;
    std::string unit = "unitless";
    std::uint32_t seq = 0;
};

/// 240 bytes, including the text, which can be copied as bytes.
struct InlineTextSample {
    std::int64_t time_ns;
    std::uint64_t seq;
    double value;
    std::uint32_t producer;
    std::uint32_t text_bytes;
    std::array<char, 208> text;
};
static_assert(sizeof(InlineTextSample) == 240 && std::is_trivially_copyable_v<InlineTextSample>);

/// 240 bytes with a std::string that is short enough not to allocate.
struct StringSample {
    std::int64_t time_ns = 0;
    std::uint64_t seq = 0;
    double value = 0.0;
    std::uint32_t producer = 0;
    std::string text = "unitless";
    std::array<char, 176> rest{};
};
static_assert(sizeof(StringSample) == 240);

template <class Sample>
[[nodiscard]] Sample blank_sample() noexcept {
    Sample sample{};
    if constexpr (std::is_same_v<Sample, InlineTextSample>) {
        constexpr std::string_view unit = "unitless";
        unit.copy(sample.text.data(), unit.size());
        sample.text_bytes = unit.size();
    }
    return sample;
}

/// Makes a sample the next one of its producer.
inline void renew(TelemetrySample& sample, std::uint32_t producer, std::uint64_t seq) noexcept {
    sample.channel = ChannelId{producer};
    sample.seq = seq;
    sample.type = ValueType::real;
    sample.value.real = static_cast<double>(seq);
}
template <class Sample>
void renew(Sample& sample, std::uint32_t producer, std::uint64_t seq) noexcept {
    sample.producer = producer;
    sample.seq = seq;
    sample.value = static_cast<double>(seq);
}

[[nodiscard]] inline std::size_t producer_of(const TelemetrySample& sample) noexcept {
    return to_index(sample.channel);
}
[[nodiscard]] inline std::size_t producer_of(const LabeledSample& /*sample*/) noexcept {
    return 0;
}
template <class Sample>
[[nodiscard]] std::size_t producer_of(const Sample& sample) noexcept {
    return sample.producer;
}

/// Checks the order of the samples of each producer and counts all samples. Threads: one at a time.
class Receipts {
  public:
    explicit Receipts(std::size_t producers) : last_(producers, 0) {}

    template <class Sample>
    void take(const Sample& sample) noexcept {
        std::uint64_t& last = last_[producer_of(sample)];
        rising_ = rising_ && sample.seq > last;
        last = sample.seq;
        ++count_;
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// Returns whether each of the `sent` samples was received once, except `lost` samples.
    [[nodiscard]] bool complete(std::uint64_t sent, std::uint64_t lost) const noexcept {
        return rising_ && count_ + lost == sent;
    }

  private:
    std::vector<std::uint64_t> last_;  // by producer
    std::uint64_t count_ = 0;
    bool rising_ = true;
};

}  // namespace telegate::perf
