#pragma once

#include "sample.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace telegate::tail {

/// A range that is asked for, or that an answer speaks of.
struct TopicHole {
    std::string topic;
    std::uint64_t first_seq = 0;
    std::uint64_t last_seq = 0;  // 0: up to what is published
};

/// One request of docs/wire.md, "Services".
struct Request {
    enum class Kind : std::uint8_t { snapshot, since, holes };

    Kind kind = Kind::snapshot;
    std::uint64_t id = 0;
    std::string prefix;                     // snapshot and since
    std::string after;                      // snapshot
    bool removed = true;                    // snapshot: also channels of devices that are no more
    std::string since;                      // since: the first page
    std::optional<std::uint64_t> position;  // since: the next pages; holes: a hint
    std::int64_t epoch = 0;                 // 0: the present one
    std::vector<TopicHole> holes;
};

/// As one frame. Threads: any.
[[nodiscard]] std::string to_json(const Request& request);
/// What a hole takes of a request, at most.
[[nodiscard]] std::size_t json_bytes_max(const TopicHole& hole) noexcept;

struct AnswerError {
    std::string code;
    std::string detail;
    std::chrono::milliseconds retry_after{0};
    std::string pointer{};  // to what in the request was refused
};

/// What is left out is empty. Texts of samples and gaps show into the frame or into `texts`.
struct Answer {
    std::uint64_t id = 0;
    std::int64_t epoch = 0;
    std::optional<AnswerError> error;
    std::vector<Sample> samples;
    std::vector<Gap> gone;
    std::vector<std::string> left;  // topics
    std::optional<std::uint64_t> position;
    std::string after;  // topic: the next page is behind it
    bool is_end = false;

    std::unordered_set<std::string> texts;
};

}  // namespace telegate::tail
