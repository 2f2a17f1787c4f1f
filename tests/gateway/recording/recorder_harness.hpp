#pragma once

#include "device/recording/made_recording.hpp"
#include "log/log.hpp"
#include "recording/recorder.hpp"
#include "support/eventually.hpp"
#include "support/scratch_dir.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace telegate::test {

/// The controls and the content of a FaultyOutput. Threads: any.
struct OutputScript {
    void block(bool blocks) {
        const std::lock_guard lock(mutex);
        blocked = blocks;
        changed.notify_all();
    }
    void fail_with(std::string what) {
        const std::lock_guard lock(mutex);
        failure = std::move(what);
    }
    /// Removes the file's name; its space is free once the file is closed.
    void remove_file() {
        const std::lock_guard lock(mutex);
        removed = true;
    }
    [[nodiscard]] bool is_waiting() {
        const std::lock_guard lock(mutex);
        return waiting;
    }
    [[nodiscard]] ReadRecording read() {
        const std::lock_guard lock(mutex);
        return read_recording(bytes);
    }
    /// Waits while the output is blocked, then throws if it is set to fail.
    void pass(std::unique_lock<std::mutex>& lock) {
        waiting = blocked;
        changed.wait(lock, [this] { return !blocked; });
        waiting = false;
        if (!failure.empty()) {
            throw std::runtime_error(failure);
        }
    }

    std::mutex mutex;  // guards all members
    std::condition_variable changed;
    bool blocked = false;
    bool waiting = false;
    std::string failure;
    bool removed = false;
    std::vector<std::byte> bytes;
    int opened = 0;
};

/// A disk that stalls or fails on request, and keeps the data that is written to it.
class FaultyOutput final : public RecordingOutput {
  public:
    explicit FaultyOutput(std::shared_ptr<OutputScript> script) : script_(std::move(script)) {}

    Opened open() override {
        std::unique_lock lock(script_->mutex);
        if (std::exchange(script_->removed, false)) {  // its space is free again
            script_->failure.clear();
            script_->bytes.clear();
        }
        script_->pass(lock);
        ++script_->opened;
        return {};
    }
    void write(Bytes bytes) override {
        std::unique_lock lock(script_->mutex);
        script_->pass(lock);
        script_->bytes.insert(script_->bytes.end(), bytes.begin(), bytes.end());
    }
    void sync() override {
        std::unique_lock lock(script_->mutex);
        script_->pass(lock);
    }
    void rotate() override {}
    [[nodiscard]] bool is_in_place() const noexcept override {
        const std::lock_guard lock(script_->mutex);
        return !script_->removed;
    }

  private:
    const std::shared_ptr<OutputScript> script_;
};

/// Two devices and the parts that recorders need.
struct RecorderBench {
    [[nodiscard]] Recorder::Parts parts() { return {channels, clock, log, 5}; }
    [[nodiscard]] std::unique_ptr<Recorder> on_faulty_disk() {
        RecorderOptions options;
        options.path = "disk";
        options.retry_min = std::chrono::milliseconds(1);
        return std::make_unique<Recorder>(options, parts(), std::make_unique<FaultyOutput>(script));
    }
    [[nodiscard]] RecorderOptions options(const std::string& name = "a.tgr") const {
        RecorderOptions options;
        options.path = dir.path(name);
        options.retry_min = std::chrono::milliseconds(1);
        return options;
    }
    [[nodiscard]] std::vector<TelemetrySample> samples(ChannelId channel, std::uint64_t first_seq,
                                                       std::uint64_t count) {
        std::vector<TelemetrySample> result;
        for (std::uint64_t seq = first_seq; seq < first_seq + count; ++seq) {
            result.push_back(recorded(to_index(channel), seq, 0, static_cast<std::int64_t>(seq)));
        }
        return result;
    }
    [[nodiscard]] ReadRecording read(const std::string& name = "a.tgr") const {
        std::ifstream file(dir.path(name), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        return read_recording(as_bytes(text));
    }

    const ScratchDir dir;
    const SystemClock clock{};
    Log log{"off"};
    ChannelTable channels;
    ChannelId a = channels.add(DeviceId{0}, "d", "a", "Cel").value();
    ChannelId b = channels.add(DeviceId{0}, "d", "b", "").value();
    ChannelId c = channels.add(DeviceId{1}, "e", "c", "").value();
    std::shared_ptr<OutputScript> script = std::make_shared<OutputScript>();
};

}  // namespace telegate::test
