#pragma once

#include <spdlog/sinks/base_sink.h>

#include <cstdint>
#include <mutex>

namespace telegate {

/// Writes log lines to a descriptor without ever waiting for its reader: the io thread logs too, and a terminal that is
/// held or a pipe that nobody empties must not stop the gateway.
///
/// Threads: any; lines are written under the base's mutex.
/// Limits:  nothing is kept: a line that does not go at once is lost.
/// Failure: lost lines are counted, and the next line that goes is preceded by one that says how many.
class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
  public:
    explicit StderrSink(int descriptor) : descriptor_(descriptor) {}

  protected:
    void sink_it_(const spdlog::details::log_msg& message) override;
    void flush_() override {}

  private:
    [[nodiscard]] bool can_write() const noexcept;

    const int descriptor_;
    std::uint64_t lost_ = 0;
};

}  // namespace telegate
