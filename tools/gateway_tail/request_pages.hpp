#pragma once

#include "service_messages.hpp"
#include "topic_lines.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telegate::tail {

/// What is to be asked of the gateway's services, page by page: a snapshot, what --since wants, then what is missing.
///
/// Threads: one. Limits: of one request docs/wire.md allows 1,000 holes and 64 KiB. Failure: std::bad_alloc.
class RequestPages {
  public:
    /// `since` "": nothing.
    RequestPages(std::vector<std::string> prefixes, std::string since)
        : prefixes_(std::move(prefixes)), since_(std::move(since)), is_since_wanted_(!since_.empty()) {}

    /// From its first page on.
    void want_snapshot();
    void drop_snapshot() noexcept { is_snapshot_wanted_ = false; }
    [[nodiscard]] bool is_snapshot_wanted() const noexcept { return is_snapshot_wanted_; }
    /// One was complete.
    [[nodiscard]] bool has_snapshot() const noexcept { return has_snapshot_; }
    void drop_since() noexcept { is_since_wanted_ = false; }
    [[nodiscard]] bool is_since_wanted() const noexcept { return is_since_wanted_; }
    /// The gateway does not know the key `removed`.
    void leave_out_removed() noexcept { knows_removed_ = false; }

    /// The next page; nullopt when nothing is wanted and `lines` miss nothing.
    [[nodiscard]] std::optional<Request> next(TopicLines& lines) const;
    /// After the answer to a page. Whether it was the last one.
    [[nodiscard]] bool end_snapshot_page(const Answer& answer);
    [[nodiscard]] bool end_since_page(const Answer& answer);
    /// Where the gateway may go on looking for holes of the present epoch.
    void set_hole_position(std::optional<std::uint64_t> position) noexcept { hole_position_ = position; }

  private:
    [[nodiscard]] Request hole_request(TopicLines& lines) const;

    const std::vector<std::string> prefixes_;  // at least one
    const std::string since_;
    bool is_snapshot_wanted_ = false;
    bool is_since_wanted_;
    bool has_snapshot_ = false;
    bool knows_removed_ = true;
    std::size_t prefix_at_ = 0;  // of the snapshot
    std::string after_;
    std::size_t since_prefix_at_ = 0;
    std::optional<std::uint64_t> since_position_;
    std::optional<std::uint64_t> hole_position_;
};

}  // namespace telegate::tail
