#include "app/device_reading.hpp"

#include <thread>
#include <utility>

namespace telegate {
namespace {

/// Returns the plan without filters, so that a reading shows every value.
ProcessingPlan without_holding_back(ProcessingPlan plan) {
    for (auto& [name, how] : plan.channels) {
        how.out_of_range = OutOfRange::uncertain;
        how.deadband = 0.0;
        how.deadband_percent = 0.0;
        how.send_interval_max = Duration(how.has_alarm() ? 1 : 0);  // so that each reading reports the alarm
        how.send_interval_min = Duration(0);
        how.window = Duration(0);
        how.aggregates.clear();
    }
    return plan;
}

}  // namespace

DeviceReader::DeviceReader(PlannedDevice device)
    : device_(std::move(device)),
      batch_(clock_, channels_, {static_cast<DeviceId>(0), device_.options.name},
             [this](std::span<const TelemetrySample> samples) { add(samples); }) {
    batch_.process_with(without_holding_back(std::move(device_.processing)), {[](const FilteredSamples& /*none*/) {
                        }});
    device_.driver->cancel_with(cancel_);
    device_.driver->open(batch_);
    batch_.go_on_from({});
}

DeviceReader::~DeviceReader() {
    device_.driver->close(batch_);
}

DeviceReading DeviceReader::read() {
    const bool streams = device_.driver->traits().streams;
    if (due_ && !streams) {
        std::this_thread::sleep_until(*due_);
    }
    const MonoTime begin = clock_.mono_now();
    due_ = begin + device_.options.interval;
    DeviceReading reading;
    reading.time_utc_ns = clock_.utc_now_ns();
    values_.clear();
    do {
        reading.has_failed = !read_once(reading);
    } while (streams && !reading.has_failed && clock_.mono_now() - begin < listen_time);
    reading.took = clock_.mono_now() - begin;
    for (const auto& [id, value] : values_) {
        reading.values.push_back(value);
    }
    return reading;
}

/// Reads like Sampler.
bool DeviceReader::read_once(DeviceReading& reading) {
    const ClockPair now = read_both(clock_);
    batch_.begin(now.utc_ns, now.mono_ns);
    const ReadResult result = device_.driver->read(batch_, clock_.mono_now());
    const bool has_failed = result.status == ReadResult::Status::failed;
    if (has_failed) {
        batch_.stamp_now();
        batch_.add_absent_for_missing();
    }
    if (!result.what.empty()) {
        reading.what = result.what;
    }
    batch_.flush();
    return !has_failed;
}

void DeviceReader::add(std::span<const TelemetrySample> samples) {
    for (const TelemetrySample& sample : samples) {
        DeviceReading::Value& value = values_[sample.channel];
        value.channel = &channels_.at(sample.channel);
        value.last = sample;
        ++value.samples;
    }
}

}  // namespace telegate
