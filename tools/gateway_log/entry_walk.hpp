#pragma once

#include "log_options.hpp"
#include "store/log_reader.hpp"

#include <cstdint>
#include <string>

namespace telegate::log_tool {

/// The channel of an entry.
struct EntryChannel {
    std::int64_t epoch_ms = 0;
    std::string topic;
    std::string unit;
};

/// Receives the entries of a log in order.
class EntryVisitor {
  public:
    EntryVisitor() = default;
    virtual ~EntryVisitor() = default;
    EntryVisitor(const EntryVisitor&) = delete;
    EntryVisitor& operator=(const EntryVisitor&) = delete;

    virtual void start(std::int64_t epoch_ms) = 0;
    virtual void sample(const EntryChannel& channel, const TelemetrySample& sample) = 0;
    virtual void gap(const EntryChannel& channel, const store::LogGap& gap) = 0;
    virtual void stop(std::int64_t epoch_ms) = 0;
};

/// Passes the entries of the log with the channels and times of `options` to `visitor`. A gap has no time of its own:
/// it is passed if the sample before or after it in the log, of any channel, is in the time range. Threads: one.
/// Limits: those of LogReader. Failure: throws std::system_error, std::bad_alloc and exceptions of `visitor`.
void walk_entries(store::LogReader& reader, const LogOptions& options, EntryVisitor& visitor);

}  // namespace telegate::log_tool
