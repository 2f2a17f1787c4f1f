#include "simulated/simulated_driver.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

using namespace telegate;
using namespace std::chrono_literals;

namespace {

/// Reads a simulated device tick by tick.
class Probe {
  public:
    explicit Probe(SimulatedDriverOptions options) : driver_(make_simulated_driver(std::move(options))) {
        driver_->open(batch_);
    }

    /// Reads once at `time` after the start. samples() are those of this read.
    ReadResult read(Duration time) {
        samples_.clear();
        batch_.begin(0, 0);
        const ReadResult result = driver_->read(batch_, MonoTime(7s) + time);
        batch_.flush();
        return result;
    }
    bool fails(Duration time) { return read(time).status == ReadResult::Status::failed; }
    void reset() { driver_->reset(); }

    const std::vector<TelemetrySample>& samples() const { return samples_; }
    const TelemetrySample& sample() const { return samples_.at(0); }
    double value() const { return sample().value.real; }
    const ChannelTable& channels() const { return table_; }

  private:
    SystemClock clock_;
    ChannelTable table_;
    std::vector<TelemetrySample> samples_;
    SampleBatch batch_{clock_, table_, {DeviceId{0}, "simulated"}, [this](std::span<const TelemetrySample> portion) {
                           samples_.insert(samples_.end(), portion.begin(), portion.end());
                       }};
    std::unique_ptr<Driver> driver_;
};

SimulatedDriverOptions only(Waveform waveform) {
    SimulatedDriverOptions options;
    options.waveforms = {waveform};
    return options;
}

SimulatedDriverOptions all_faults() {
    SimulatedDriverOptions options;
    options.error_probability = 0.1;
    options.hang_probability = 0.01;
    options.hang_time = 20ms;
    options.stuck_probability = 0.01;
    options.stuck_time = 20ms;
    options.burst_probability = 0.05;
    options.burst_samples = 7;
    return options;
}

/// Returns all samples of `ticks` reads, 1 ms apart.
std::vector<std::string> transcript(Probe& probe, int ticks) {
    std::vector<std::string> lines;
    for (int tick = 0; tick < ticks; ++tick) {
        lines.emplace_back(probe.read(tick * 1ms).what);
        for (const TelemetrySample& sample : probe.samples()) {
            lines.push_back(std::to_string(to_index(sample.channel)) + ' ' + std::string(to_string(sample.quality)) +
                            ' ' + std::to_string(sample.value.integer));  // the bits of a value of any type
        }
    }
    return lines;
}

std::vector<std::string> transcript(const SimulatedDriverOptions& options, int ticks) {
    Probe probe(options);
    return transcript(probe, ticks);
}

}  // namespace

TEST_CASE("the same seed gives the same values and faults, tick by tick", "[device][simulated]") {
    Probe first(all_faults());
    Probe second(all_faults());
    CHECK(transcript(first, 2'000) == transcript(second, 2'000));
}

TEST_CASE("a different seed gives different values", "[device][simulated]") {
    const auto waveform = GENERATE(Waveform::random_walk, Waveform::noise);
    SimulatedDriverOptions other = only(waveform);
    other.seed = 2;
    CHECK(transcript(only(waveform), 10) != transcript(other, 10));
}

TEST_CASE("values do not depend on the time of the first read", "[device][simulated]") {
    Probe early{SimulatedDriverOptions{}};
    Probe late{SimulatedDriverOptions{}};
    early.read(0ms);
    early.read(1'300ms);
    late.read(1h);
    late.read(1h + 1'300ms);
    for (std::size_t index = 0; index < early.samples().size(); ++index) {
        CHECK(early.samples()[index].value.integer == late.samples()[index].value.integer);
    }
}

TEST_CASE("seed 1 gives these values on every machine", "[device][simulated]") {
    Probe probe{SimulatedDriverOptions{.waveforms = {Waveform::random_walk, Waveform::noise}}};
    const std::vector<std::pair<double, double>> expected{{20.0, 20.363714627106162},
                                                          {19.97828785225968, 23.807094357322775},
                                                          {20.046371488313273, 18.238093380343074},
                                                          {20.13731890419198, 18.310888785660023}};
    for (std::size_t tick = 0; tick < expected.size(); ++tick) {
        probe.read(tick * 1ms);
        CHECK(probe.samples().at(0).value.real == expected[tick].first);
        CHECK(probe.samples().at(1).value.real == expected[tick].second);
    }
}

TEST_CASE("each waveform is a channel of its name, in the given order", "[device][simulated]") {
    Probe probe{SimulatedDriverOptions{}};
    std::vector<std::string> names;
    for (std::size_t index = 0; index < probe.channels().size(); ++index) {
        names.push_back(probe.channels().at(static_cast<ChannelId>(index)).channel);
    }
    CHECK(names == std::vector<std::string>{"sine", "ramp", "square", "random_walk", "noise", "counter"});
    CHECK(probe.channels().at(ChannelId{0}).unit.empty());
    CHECK(probe.channels().at(ChannelId{5}).unit == "1");
    probe.read(0ms);
    CHECK(probe.samples().size() == 6);
}

TEST_CASE("sine, ramp and square depend on the time within their period", "[device][simulated]") {
    const auto [waveform, at, expected] = GENERATE(table<Waveform, std::chrono::milliseconds, double>({
        {Waveform::sine, 0ms, 20.0},
        {Waveform::sine, 2'500ms, 30.0},
        {Waveform::sine, 7'500ms, 10.0},
        {Waveform::ramp, 0ms, 10.0},
        {Waveform::ramp, 5'000ms, 20.0},
        {Waveform::ramp, 7'500ms, 25.0},
        {Waveform::ramp, 10'000ms, 10.0},
        {Waveform::square, 0ms, 30.0},
        {Waveform::square, 4'999ms, 30.0},
        {Waveform::square, 5'000ms, 10.0},
        {Waveform::square, 10'000ms, 30.0},
    }));
    CAPTURE(static_cast<int>(waveform), at.count());
    Probe probe(only(waveform));
    probe.read(0ms);
    probe.read(at);
    CHECK(probe.value() == Approx(expected));
    const double value = probe.value();
    probe.read(at + 365 * 24h);  // a whole number of periods later
    CHECK(probe.value() == value);
}

TEST_CASE("a random walk starts at its offset, takes small steps and stays within its limits", "[device][simulated]") {
    SimulatedDriverOptions options = only(Waveform::random_walk);
    options.burst_probability = 1.0;
    options.burst_samples = 100'000;
    Probe probe(options);
    double last = options.offset;
    double step_max = 0.0;
    double distance_max = 0.0;
    for (int tick = 0; tick < 60; ++tick) {
        probe.read(tick * 1ms);
        for (const TelemetrySample& sample : probe.samples()) {
            step_max = std::max(step_max, std::abs(sample.value.real - last));
            last = sample.value.real;
            distance_max = std::max(distance_max, std::abs(last - options.offset));
        }
    }
    CHECK(step_max <= 0.1 + 1e-12);
    CHECK(distance_max > 99.0);
    CHECK(distance_max <= 100.0 + 1e-12);
}

TEST_CASE("a negative amplitude inverts the signals", "[device][simulated]") {
    SimulatedDriverOptions options;
    options.waveforms = {Waveform::sine, Waveform::ramp, Waveform::square, Waveform::random_walk};
    Probe upright(options);
    options.amplitude = -options.amplitude;
    Probe turned(options);
    for (int tick = 0; tick < 100; ++tick) {
        upright.read(tick * 77ms);
        turned.read(tick * 77ms);
        for (std::size_t index = 0; index < options.waveforms.size(); ++index) {
            CHECK(turned.samples()[index].value.real - 20.0 == Approx(20.0 - upright.samples()[index].value.real));
        }
    }
}

TEST_CASE("noise is around its offset, with a standard deviation of a third of the amplitude", "[device][simulated]") {
    SimulatedDriverOptions options = only(Waveform::noise);
    options.burst_probability = 1.0;
    options.burst_samples = 100'000;
    Probe probe(options);
    probe.read(0ms);
    double sum = 0.0;
    double squares = 0.0;
    for (const TelemetrySample& sample : probe.samples()) {
        sum += sample.value.real - 20.0;
        squares += std::pow(sample.value.real - 20.0, 2);
    }
    CHECK(sum / 100'000 == Approx(0.0).margin(0.05));
    CHECK(std::sqrt(squares / 100'000) == Approx(10.0 / 3).epsilon(0.01));
}

TEST_CASE("the counter counts the ticks, from 1", "[device][simulated]") {
    Probe probe(only(Waveform::counter));
    for (std::int64_t tick = 1; tick <= 5; ++tick) {
        probe.read(tick * 1ms);
        CHECK(probe.sample().type == ValueType::integer);
        CHECK(probe.sample().value.integer == tick);
    }
}

TEST_CASE("read errors occur with the given probability and give no values", "[device][simulated]") {
    SimulatedDriverOptions options = only(Waveform::counter);
    options.error_probability = 0.25;
    Probe probe(options);
    std::int64_t failed = 0;
    for (int tick = 0; tick < 10'000; ++tick) {
        const ReadResult result = probe.read(tick * 1ms);
        if (result.status == ReadResult::Status::failed) {
            REQUIRE(result.what == std::string("read error"));
            REQUIRE(probe.samples().empty());
            ++failed;
        }
    }
    CHECK(failed > 2'300);
    CHECK(failed < 2'700);
    while (probe.fails(20s)) {
    }
    CHECK(probe.sample().value.integer >= 10'000 - failed + 1);
}

TEST_CASE("a hanging device does not respond until hang_time has passed", "[device][simulated]") {
    SimulatedDriverOptions options = only(Waveform::counter);
    options.hang_probability = 0.01;
    options.hang_time = 50ms;
    Probe probe(options);
    std::map<int, int> hangs_by_length;
    int length = 0;
    for (int tick = 0; tick < 5'000; ++tick) {
        const ReadResult result = probe.read(tick * 1ms);
        if (result.status == ReadResult::Status::failed) {
            REQUIRE(result.what == std::string("no response"));
            ++length;
        } else if (length > 0) {
            ++hangs_by_length[length % 50];
            length = 0;
        }
    }
    CHECK(hangs_by_length.size() == 1);  // each lasted 50 ticks, or 100 if the next one followed immediately
    CHECK(hangs_by_length[0] > 10);
}

TEST_CASE("a device that is stuck repeats its last values, with quality uncertain", "[device][simulated]") {
    SimulatedDriverOptions options;
    options.stuck_probability = 0.02;
    options.stuck_time = 30ms;
    Probe probe(options);
    std::vector<TelemetrySample> last;
    int stuck = 0;
    for (int tick = 0; tick < 1'000; ++tick) {
        REQUIRE_FALSE(probe.fails(tick * 1ms));
        const bool repeats = probe.samples().back().quality == Quality::uncertain;
        stuck += repeats ? 1 : 0;
        for (std::size_t index = 0; repeats && tick > 0 && index < last.size(); ++index) {
            REQUIRE(probe.samples()[index].quality == Quality::uncertain);
            REQUIRE(probe.samples()[index].value.integer == last[index].value.integer);
        }
        last = probe.samples();
    }
    CHECK(stuck > 100);
    CHECK(stuck < 900);
}

TEST_CASE("a device that is stuck from the start repeats its first values", "[device][simulated]") {
    SimulatedDriverOptions options = only(Waveform::counter);
    options.stuck_probability = 1.0;
    Probe probe(options);
    for (int tick = 0; tick < 3; ++tick) {
        probe.read(tick * 10s);
        CHECK(probe.sample().value.integer == 1);
        CHECK(probe.sample().quality == Quality::uncertain);
    }
}

TEST_CASE("a burst gives the given number of samples per channel, each with its own value", "[device][simulated]") {
    SimulatedDriverOptions options;
    options.waveforms = {Waveform::noise, Waveform::counter};
    options.burst_probability = 1.0;
    options.burst_samples = 300;
    Probe probe(options);
    probe.read(0ms);
    REQUIRE(probe.samples().size() == 600);
    for (std::size_t index = 0; index < 300; ++index) {
        REQUIRE(probe.samples()[2 * index + 1].value.integer == static_cast<std::int64_t>(index + 1));
    }
    CHECK(probe.samples()[0].value.real != probe.samples()[2].value.real);
}

TEST_CASE("faults change neither the values of noise nor other faults", "[device][simulated]") {
    SimulatedDriverOptions faulty = only(Waveform::noise);
    faulty.error_probability = 0.5;
    Probe plain(only(Waveform::noise));
    Probe disturbed(faulty);
    SimulatedDriverOptions more = faulty;
    more.burst_probability = 0.5;
    Probe twice_disturbed(more);
    for (int tick = 0; tick < 100; ++tick) {
        const bool failed = disturbed.fails(tick * 1ms);
        CHECK(twice_disturbed.fails(tick * 1ms) == failed);
        if (!failed) {
            plain.read(tick * 1ms);
            CHECK(disturbed.value() == plain.value());
        }
    }
}

TEST_CASE("after a reset the device is as after open()", "[device][simulated]") {
    Probe probe(all_faults());
    const auto before = transcript(probe, 500);
    probe.reset();
    CHECK(transcript(probe, 500) == before);
}

TEST_CASE("a reset ends a hang", "[device][simulated]") {
    SimulatedDriverOptions options = only(Waveform::counter);
    options.hang_probability = 0.5;
    options.hang_time = 1h;
    options.seed = 11;
    Probe probe(options);
    CHECK_FALSE(probe.fails(0ms));
    CHECK(probe.fails(1ms));
    CHECK(probe.fails(2ms));
    probe.reset();
    CHECK_FALSE(probe.fails(3ms));
}

TEST_CASE("copies of a signal are channels with a number after the name, and their noise differs",
          "[device][simulated]") {
    SimulatedDriverOptions options = only(Waveform::noise);
    options.copies = 3;
    Probe f(options);
    f.read(0s);
    REQUIRE(f.samples().size() == 3);
    CHECK(f.channels().at(f.samples()[0].channel).channel == "noise");
    CHECK(f.channels().at(f.samples()[2].channel).channel == "noise_3");
    CHECK(f.samples()[0].value.real != f.samples()[1].value.real);
}
