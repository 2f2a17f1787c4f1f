#pragma once

#include "line/sample_consumer.hpp"
#include "recording/recorder.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace telegate {

/// All recorders that the settings require.
///
/// Threads: take(), gap(), ledger() the I/O thread; status() any; change(), close() any one at a time.
/// Limits: one recorder for the gateway and one for each device. change() and close() wait for the disks of the
/// recorders that end.
/// Failure: a recorder that cannot be created for lack of a thread or memory is omitted until the next change; the log
/// and status() report it.
class Recorders final : public SampleConsumer {
  public:
    explicit Recorders(Recorder::Parts parts) : parts_(parts) {}

    /// Replaces the recorders. Recorders with unchanged options continue without loss.
    void change(const std::vector<RecorderOptions>& wanted);
    /// Ends all recorders.
    void close() { change({}); }

    [[nodiscard]] std::string_view name() const noexcept override { return "recorders"; }
    void take(std::span<const TelemetrySample> samples) noexcept override;
    void gap(const SampleGap& gap) noexcept override;
    [[nodiscard]] ConsumerLedger ledger() const noexcept override { return ledger_; }

    /// Returns the recorders in the order of the settings, followed by those that could not be created.
    [[nodiscard]] std::vector<RecorderStatus> status() const;

  private:
    using List = std::vector<std::shared_ptr<Recorder>>;
    [[nodiscard]] List list() const;
    void set(List list);
    [[nodiscard]] std::shared_ptr<Recorder> make(const RecorderOptions& options);

    const Recorder::Parts parts_;
    ConsumerLedger ledger_;         // used by the I/O thread
    std::atomic<bool> any_{false};  // checked first, because most gateways record nothing
    mutable std::mutex mutex_;      // guards the members below; held by the I/O thread while it copies a batch
    List list_;
    std::vector<RecorderStatus> left_out_;
};

}  // namespace telegate
