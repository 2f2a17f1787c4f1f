#pragma once

#include "sample.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace telegate::tail {

/// A range of seqs in a request or a reply.
struct TopicHole {
    std::string topic;
    std::uint64_t first_seq = 0;
    std::uint64_t last_seq = 0;  // 0: up to the last published one
};

/// One request to the services of docs/wire.md.
struct Request {
    /// past: the channels of an earlier epoch; since: the history for --since.
    enum class Kind : std::uint8_t { past, snapshot, since, holes };

    Kind kind = Kind::snapshot;
    std::uint64_t id = 0;
    std::string prefix;                     // all but holes
    std::string after;                      // snapshot and past
    bool removed = true;                    // snapshot: includes channels of removed devices
    bool earlier_runs = true;               // since: may start in an earlier epoch
    std::string since;                      // since: the first page
    bool is_whole_epoch = false;            // since: begins with the first sample of the epoch
    std::optional<std::uint64_t> position;  // since: further pages; holes: a hint
    std::int64_t epoch = 0;                 // 0: the current epoch
    std::vector<TopicHole> holes;
};

/// Returns the request as one frame. Threads: any.
[[nodiscard]] std::string to_json(const Request& request);

struct AnswerError {
    std::string code;
    std::string detail;
    std::chrono::milliseconds retry_after{0};
    std::string pointer{};  // points to the rejected part of the request
};

/// A channel of an earlier epoch.
struct PastTopic {
    std::string topic;
    std::uint64_t last_seq = 0;
};

/// A reply from the services. Omitted members are empty. Texts of samples and gaps point into the frame or into
/// `texts`.
struct Answer {
    std::uint64_t id = 0;
    std::int64_t epoch = 0;
    std::optional<AnswerError> error;
    std::vector<Sample> samples;
    std::vector<Gap> gone;
    std::vector<std::string> left;  // topics
    std::optional<std::uint64_t> position;
    std::string after;  // last topic of this page; the next page starts after it
    bool is_end = false;
    std::vector<PastTopic> past;
    std::int64_t samples_epoch = 0;  // of a replay of an earlier epoch; 0: the current epoch
    std::int64_t next_epoch = 0;     // the one after an earlier epoch; 0: not in the reply
    bool is_end_known = true;        // whether the last seqs of an earlier epoch are known

    std::unordered_set<std::string> texts;
};

}  // namespace telegate::tail
