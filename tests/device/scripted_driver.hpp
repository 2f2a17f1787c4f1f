#pragma once

#include "device/driver.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace telegate::test {

/// The script of a ScriptedDriver, and what the driver has done. Owned by the test; the driver refers to it.
struct Script {
    std::vector<std::string> channels{"a"};
    const char* fails_with = nullptr;   // reads fail with this error
    const char* partly_with = nullptr;  // reads are good, except for this error
    std::size_t answers = 1'000;        // only this many channels, the first ones, get a value, even in a failed read
    std::function<void(SampleBatch&)> on_read = [](SampleBatch&) {
    };

    std::vector<MonoTime> reads{};
    int resets = 0;
};

/// A device that follows its script. Each value is the number of the read, from 1.
class ScriptedDriver final : public Driver {
  public:
    explicit ScriptedDriver(Script& script) : script_(script) {}

    void open(SampleBatch& batch) override {
        for (const std::string& name : script_.channels) {
            channels_.push_back(batch.add_channel(name, ""));
        }
    }
    ReadResult read(SampleBatch& batch, MonoTime now) noexcept override {
        script_.reads.push_back(now);
        for (std::size_t index = 0; index < channels_.size() && index < script_.answers; ++index) {
            batch.add(channels_[index], static_cast<std::int64_t>(script_.reads.size()));
        }
        script_.on_read(batch);
        if (script_.fails_with != nullptr) {
            return {ReadResult::Status::failed, script_.fails_with};
        }
        return {.what = script_.partly_with == nullptr ? "" : script_.partly_with};
    }
    void reset() noexcept override { ++script_.resets; }

  private:
    Script& script_;
    std::vector<SampleBatch::Channel> channels_;
};

}  // namespace telegate::test
