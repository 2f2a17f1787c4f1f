#pragma once

#include "uplink/delivery.hpp"

#include "store/file_system.hpp"
#include "store/segment_format.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// A sample that a back end has refused.
struct QuarantinedSample {
    enum class Status : std::uint8_t { kept, waiting, taken };  // waiting, or taken, to be sent again

    store::LogId log_id{};
    std::string topic;
    std::uint64_t seq = 0;
    std::int64_t utc_ns = 0;          // of the sample
    std::int64_t refused_utc_ns = 0;  // when it was quarantined
    std::string reason;
    OutgoingMessage message;  // as it was sent; its quarantine_id is unique until the process ends
    Status status = Status::kept;
};

/// The samples that a back end has refused permanently, on disk, in the directory of the log: NAME.quarantine.
///
/// Threads: one.
/// Limits:  those of Limits, in memory and on disk.
/// Failure: load(), add() and save() throw std::system_error if the file cannot be used. A damaged or partly written
///          record, and everything after it, is ignored.
class Quarantine {
  public:
    struct Limits {
        std::size_t samples_max = 1'000;
        std::size_t bytes_max = 1'048'576;
    };
    Quarantine(store::FileSystem& files, std::string directory, std::string_view uplink, const Limits& limits);

    /// Reads the file. Has to be called before all other functions.
    void load();
    /// Whether another sample may be added whose message has this size.
    [[nodiscard]] bool has_capacity(std::size_t message_bytes) const noexcept;
    /// Returns after the sample is on the disk. Sets its id.
    void add(QuarantinedSample sample);
    [[nodiscard]] const std::deque<QuarantinedSample>& samples() const noexcept { return samples_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    /// Whether the quarantine has samples of the block that ends at `end_position`.
    [[nodiscard]] bool has_block(const store::LogId& log_id, store::Position end_position) const noexcept;

    /// Removes a sample, or all of them; save() makes that permanent. Until then, they return if the process is killed.
    void remove(std::uint64_t id) noexcept;
    void clear() noexcept;
    void save();
    [[nodiscard]] bool is_saved() const noexcept { return is_saved_; }

    /// Makes all samples wait to be sent again.
    void retry_all() noexcept;
    /// Makes those wait again that were taken.
    void return_taken() noexcept;
    /// Returns the message of a waiting sample, or null. The sample then counts as taken.
    [[nodiscard]] const OutgoingMessage* next_waiting();
    /// Whether the back end has refused a taken sample again.
    void keep(std::uint64_t id) noexcept;
    [[nodiscard]] bool has_waiting() const noexcept;

  private:
    using Status = QuarantinedSample::Status;

    void append(const std::string& record);
    void insert(QuarantinedSample sample);

    store::FileSystem& files_;
    const std::string directory_;
    const std::string path_;
    const Limits limits_;
    std::unique_ptr<store::File> file_;  // null: not open for writing
    std::uint64_t end_ = 0;              // of the records in the file
    std::deque<QuarantinedSample> samples_;
    std::size_t bytes_ = 0;
    std::uint64_t last_id_ = 0;
    bool is_saved_ = true;  // the file has no samples that were removed
};

}  // namespace telegate::uplink
