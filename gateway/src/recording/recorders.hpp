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

/// Everybody who records, as the settings say.
///
/// Threads: take(), gap(), ledger() the io thread; status() any; change(), close() any one at a time.
/// Limits:  one recorder for the gateway and for each device. change() and close() wait for the disks of those that
/// end. Failure: a recorder for which there is no thread or memory is left out until the next change; the log and
/// status() say so.
class Recorders final : public SampleConsumer {
  public:
    explicit Recorders(Recorder::Parts parts) : parts_(parts) {}

    /// Recorders that stay as they are go on, to the last sample.
    void change(const std::vector<RecorderOptions>& wanted);
    /// Ends them all.
    void close() { change({}); }

    [[nodiscard]] std::string_view name() const noexcept override { return "recorders"; }
    void take(std::span<const TelemetrySample> samples) noexcept override;
    void gap(const SampleGap& gap) noexcept override;
    [[nodiscard]] ConsumerLedger ledger() const noexcept override { return ledger_; }

    /// In the order of the settings, those that were left out last.
    [[nodiscard]] std::vector<RecorderStatus> status() const;

  private:
    using List = std::vector<std::shared_ptr<Recorder>>;
    [[nodiscard]] List list() const;
    void set(List list);
    [[nodiscard]] std::shared_ptr<Recorder> make(const RecorderOptions& options);

    const Recorder::Parts parts_;
    ConsumerLedger ledger_;         // the io thread's
    std::atomic<bool> any_{false};  // looked at first: most gateways record nothing
    mutable std::mutex mutex_;      // guards what follows; held for a copy of a batch by the io thread
    List list_;
    std::vector<RecorderStatus> left_out_;
};

}  // namespace telegate
