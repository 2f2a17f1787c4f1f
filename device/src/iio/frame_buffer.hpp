#pragma once

#include "core/clock.hpp"
#include "device/cancel_signal.hpp"
#include "iio/found_device.hpp"
#include "iio/scan_frame.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace telegate::iio {

struct CaptureOptions {
    std::vector<std::string> channels;  // none: all
    std::string trigger;                // "": as it is set
    std::int64_t length = 0;            // frames that the kernel keeps
    bool wants_realtime = false;        // timestamps of the wall clock rather than of the monotonic one
    std::string dev_root;
};

/// Buffered capture: the channels that are on, and their frames from the character device.
///
/// Threads: one at a time.
/// Limits:  bytes_max bytes are read at once. Only start() allocates. Frames that the kernel's own buffer has no room
///          for are lost there, and nothing says so.
/// Failure: start() returns words; it changes nothing while somebody else has the device open. After fill() has failed
///          nothing more comes until the next start(). stop() puts the buffer off whatever state it is in.
class FrameBuffer {
  public:
    static constexpr std::size_t bytes_max = 64 * 1'024;

    enum class Wait { readable, nothing, cancelled };

    FrameBuffer() = default;
    ~FrameBuffer() { stop(); }
    FrameBuffer(const FrameBuffer&) = delete;
    FrameBuffer& operator=(const FrameBuffer&) = delete;

    /// "" or why it did not start.
    [[nodiscard]] std::string start(const FoundDevice& device, const CaptureOptions& options);
    void stop() noexcept;
    [[nodiscard]] bool is_started() const noexcept { return descriptor_ >= 0; }

    /// The path of its character device.
    [[nodiscard]] const std::string& node() const noexcept { return node_; }
    /// Of each element of a frame, in order; the timestamp has none.
    [[nodiscard]] const std::vector<Input>& inputs() const noexcept { return inputs_; }
    [[nodiscard]] const FrameLayout& layout() const noexcept { return layout_; }

    [[nodiscard]] Wait wait(const CancelSignal* cancel, Duration at_most) const noexcept;
    /// Takes what has come. 0, also when nothing has; or the system's number of the error, ENODEV at an end.
    [[nodiscard]] int fill() noexcept;
    /// The next whole frame; empty when there is none. Valid until fill().
    [[nodiscard]] std::span<const std::byte> next_frame() noexcept;
    /// When the kernel took the frame; nullopt where it does not say.
    [[nodiscard]] std::optional<std::int64_t> timestamp_of(std::span<const std::byte> frame) const noexcept;
    /// Whether timestamps are of the wall clock.
    [[nodiscard]] bool is_realtime() const noexcept { return is_realtime_; }

  private:
    [[nodiscard]] std::string set_up(const FoundDevice& device, const CaptureOptions& options);
    [[nodiscard]] std::string choose_channels(const FoundDevice& device, const CaptureOptions& options);
    [[nodiscard]] std::string lay_out(const FoundDevice& device, const std::vector<std::string>& channels);

    int descriptor_ = -1;
    std::string node_;
    std::string enable_path_;
    FrameLayout layout_;
    std::vector<Input> inputs_;
    std::optional<std::size_t> timestamp_;  // index of its element, the last one
    bool is_realtime_ = true;
    std::vector<std::byte> bytes_;
    std::size_t filled_ = 0;
    std::size_t taken_ = 0;
};

}  // namespace telegate::iio
