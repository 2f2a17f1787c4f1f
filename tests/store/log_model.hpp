#pragma once

#include "store/log_reader.hpp"
#include "store/sample_log.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace telegate::store {

/// Makes a sample whose content follows from its epoch, channel and number, so that a reader can check it.
[[nodiscard]] TelemetrySample make_sample(std::int64_t epoch_ms, ChannelId channel, std::uint64_t seq);

/// The samples and gaps that a test has appended to a log, and those that the log has acknowledged as synced.
class LogModel {
  public:
    /// By epoch and topic.
    using Key = std::pair<std::int64_t, std::string>;
    struct Range {
        std::uint64_t first;
        std::uint64_t last;
    };
    struct Channel {
        std::uint64_t last_seq = 0;    // appended, as sample or gap
        std::uint64_t synced_seq = 0;  // appended when the last sync() returned
        std::vector<Range> gaps;       // appended as gaps
    };

    Channel& at(std::int64_t epoch_ms, const std::string& topic) { return channels_[{epoch_ms, topic}]; }
    /// Everything appended in this epoch is on disk.
    void record_sync(std::int64_t epoch_ms);

    /// Reads the whole log and compares it with the model. Returns "" or a description of the differences.
    [[nodiscard]] std::string check(FileSystem& files, const std::string& directory,
                                    const std::set<GapReason>& allowed_for_synced = {GapReason::retention,
                                                                                     GapReason::log_full}) const;

  private:
    std::map<Key, Channel> channels_;
};

}  // namespace telegate::store
