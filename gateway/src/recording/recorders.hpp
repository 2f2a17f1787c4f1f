#pragma once

#include "durable/durable_log.hpp"
#include "line/sample_consumer.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace telegate {

/// All recordings that the settings require. Each is a DurableLog of its own.
///
/// Threads: take(), gap(), ledger() the I/O thread; status() any; change(), close() any one at a time.
/// Limits: one recording for the gateway and one for each device. change() and close() wait for the disks of the
/// recordings that end.
/// Failure: a recording that cannot be started for lack of a thread or memory is omitted until the next change; the log
/// and status() report it.
class Recorders final : public SampleConsumer {
  public:
    explicit Recorders(DurableLog::Parts parts) : parts_(std::move(parts)) {}

    /// Replaces the recordings. Those with the same path and device continue without loss, with their new limits.
    void change(const std::vector<DurableLogOptions>& wanted);
    /// Ends all recordings.
    void close() override { change({}); }

    [[nodiscard]] std::string_view name() const noexcept override { return "recorders"; }
    void take(std::span<const TelemetrySample> samples) noexcept override;
    void gap(const SampleGap& gap) noexcept override;
    [[nodiscard]] ConsumerLedger ledger() const noexcept override { return ledger_; }

    /// Returns the recordings in the order of the settings, followed by those that could not be started.
    [[nodiscard]] std::vector<DurableLogStatus> status() const;

  private:
    using List = std::vector<std::shared_ptr<DurableLog>>;
    [[nodiscard]] List list() const;
    void set(List list);
    [[nodiscard]] std::shared_ptr<DurableLog> make(const DurableLogOptions& options);

    const DurableLog::Parts parts_;
    ConsumerLedger ledger_;         // used by the I/O thread
    std::atomic<bool> any_{false};  // checked first, because most gateways record nothing
    mutable std::mutex mutex_;      // guards the members below; held by the I/O thread while it copies a batch
    List list_;
    std::vector<DurableLogStatus> left_out_;
};

}  // namespace telegate
