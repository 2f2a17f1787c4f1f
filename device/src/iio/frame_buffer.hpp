#pragma once

#include "core/unique_fd.hpp"
#include "iio/found_device.hpp"
#include "iio/iio_driver.hpp"
#include "iio/scan_frame.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace telegate::iio {

/// Buffered capture: the enabled channels, and their frames from the character device.
///
/// Threads: one at a time.
/// Limits: reads at most bytes_max bytes at once. Only start() allocates. If the kernel's buffer is full, frames are
/// lost without notice.
/// Failure: start() returns what is wrong; it changes nothing while another program has the device open. After fill()
/// has failed, there are no frames until the next start(). stop() disables the buffer in any state.
class FrameBuffer {
  public:
    static constexpr std::size_t bytes_max = 64 * 1'024;

    FrameBuffer() = default;
    ~FrameBuffer() { stop(); }
    FrameBuffer(const FrameBuffer&) = delete;
    FrameBuffer& operator=(const FrameBuffer&) = delete;

    /// Returns "", or why it did not start.
    [[nodiscard]] std::string start(const FoundDevice& device, const IioDriverOptions& options);
    void stop() noexcept;
    [[nodiscard]] bool is_started() const noexcept { return descriptor_.get() >= 0; }

    /// Reads the scales and offsets again that could not be read so far.
    void read_missing_scales(const FoundDevice& device);

    /// Returns the path of the character device.
    [[nodiscard]] const std::string& node() const noexcept { return node_; }
    /// Returns the input of each element of a frame, in order, including the timestamp.
    [[nodiscard]] const std::vector<Input>& inputs() const noexcept { return inputs_; }
    [[nodiscard]] const FrameLayout& layout() const noexcept { return layout_; }

    /// Returns the descriptor to wait for; -1 when stopped.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
    /// Reads available data. Returns 0 even if there is none, or an errno value, ENODEV at the end of the stream.
    [[nodiscard]] int fill() noexcept;
    /// Returns the next complete frame, valid until fill(); empty if there is none.
    [[nodiscard]] std::span<const std::byte> next_frame() noexcept;
    /// Returns the time at which the kernel captured the frame, in ns; nullopt without a timestamp element.
    [[nodiscard]] std::optional<std::int64_t> timestamp_of(std::span<const std::byte> frame) const noexcept;
    /// Returns whether timestamps are those of the wall clock.
    [[nodiscard]] bool is_realtime() const noexcept { return is_realtime_; }

  private:
    [[nodiscard]] std::string set_up(const FoundDevice& device, const IioDriverOptions& options);
    [[nodiscard]] std::string choose_channels(const FoundDevice& device, const IioDriverOptions& options);
    [[nodiscard]] std::string lay_out(const FoundDevice& device, const std::vector<std::string>& channels);

    UniqueFd descriptor_;
    std::string node_;
    std::string enable_path_;
    FrameLayout layout_;
    std::vector<Input> inputs_;
    std::optional<std::size_t> timestamp_;  // index of the timestamp element
    bool is_realtime_ = true;
    std::vector<std::byte> bytes_;
    std::size_t filled_ = 0;
    std::size_t taken_ = 0;
};

}  // namespace telegate::iio
