#pragma once

#include "device/driver_bench.hpp"
#include "host/host_driver.hpp"
#include "host/proc_file.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace telegate::test {

inline HostDriverOptions per_core() {
    HostDriverOptions options;
    options.per_core = true;
    return options;
}

enum class Machine { simulated, this_one };

/// A host driver that is read at simulated times.
class HostFixture {
  public:
    explicit HostFixture(HostDriverOptions options = {}, Machine machine = Machine::simulated)
        : options_(std::move(options)) {
        tree.make_directory("proc");
        if (machine == Machine::simulated) {
            options_.proc_root = tree.path("proc");
            options_.sys_root = tree.path("sys");
            proc("1/stat", "1 (init) S 0 1 1 0 -1 4 5 6 7 8 9 0 0 0 20 0 1 0 1 1000 10 1 1\n");
        }
    }

    ScratchDir tree;

    /// The options of the driver.
    HostDriverOptions& options() { return options_; }

    void proc(std::string_view file, std::string_view text) { tree.write("proc/" + std::string(file), text); }
    void sys(std::string_view file, std::string_view text) { tree.write("sys/" + std::string(file), text); }

    /// Creates and opens the driver. Files that were written before exist from the start.
    void open() { bench_.emplace(make_host_driver(options_)); }
    /// Runs one tick, `later` after the previous one.
    ReadResult read(std::chrono::nanoseconds later = std::chrono::seconds(1)) {
        now_ += later;
        return bench_->read_at(now_);
    }
    /// Runs as many ticks as it takes until a missing file is retried.
    void read_until_reopened() {
        for (std::uint32_t tick = 0; tick < host::ProcFile::reopen_ticks; ++tick) {
            read();
        }
    }
    void reset() { bench_->driver().reset(); }

    [[nodiscard]] bool has_channel(std::string_view name) const { return find_channel(name).has_value(); }
    [[nodiscard]] std::string unit(std::string_view name) const {
        const auto id = find_channel(name);
        REQUIRE(id);
        return bench_->channels().at(*id).unit;
    }
    /// Return values of the last tick. A missing channel, a second sample or another type fails the test.
    [[nodiscard]] double real(std::string_view name) const {
        const TelemetrySample sample = bench_->sample_of(name);
        REQUIRE(sample.type == ValueType::real);
        REQUIRE(sample.quality == Quality::good);
        return sample.value.real;
    }
    [[nodiscard]] std::int64_t integer(std::string_view name) const {
        const TelemetrySample sample = bench_->sample_of(name);
        REQUIRE(sample.type == ValueType::integer);
        REQUIRE(sample.quality == Quality::good);
        return sample.value.integer;
    }
    [[nodiscard]] std::string text(std::string_view name) const { return std::string(bench_->sample_of(name).text()); }
    [[nodiscard]] Quality quality(std::string_view name) const { return bench_->sample_of(name).quality; }
    /// Returns whether the channel had no value in the last tick.
    [[nodiscard]] bool is_absent(std::string_view name) const {
        const TelemetrySample sample = bench_->sample_of(name);
        return sample.type == ValueType::none && sample.quality == Quality::bad;
    }
    [[nodiscard]] std::size_t channels() const { return bench_->channels().size(); }
    [[nodiscard]] std::size_t samples() const { return bench_->samples().size(); }

  private:
    [[nodiscard]] std::optional<ChannelId> find_channel(std::string_view name) const {
        for (std::uint32_t index = 0; index < channels(); ++index) {
            if (bench_->channels().at(ChannelId{index}).channel == name) {
                return ChannelId{index};
            }
        }
        return std::nullopt;
    }

    HostDriverOptions options_;
    std::optional<DriverBench> bench_;
    MonoTime now_{std::chrono::seconds(1'000)};
};

}  // namespace telegate::test
