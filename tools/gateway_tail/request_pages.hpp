#pragma once

#include "service_messages.hpp"
#include "topic_lines.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telegate::tail {

/// Builds the requests to the gateway's services, page by page: first the channels of earlier epochs, then a snapshot,
/// then the history for --since, then the holes.
///
/// Threads: one. Limits: docs/wire.md allows 1,000 holes and 64 KiB per request; splice_limits::epochs_max earlier
/// epochs. Failure: std::bad_alloc.
class RequestPages {
  public:
    /// `prefixes` are at least one. An empty `since` requests no history.
    RequestPages(std::vector<std::string> prefixes, const std::string& since);

    /// Requests a snapshot, starting with its first page.
    void want_snapshot();
    void drop_snapshot() noexcept { snapshot_.is_wanted = false; }
    [[nodiscard]] bool is_snapshot_wanted() const noexcept { return snapshot_.is_wanted; }
    /// Returns whether a snapshot was completed.
    [[nodiscard]] bool has_snapshot() const noexcept { return has_snapshot_; }
    void drop_since() noexcept { since_.is_wanted = false; }
    [[nodiscard]] bool is_since_wanted() const noexcept { return since_.is_wanted; }
    /// Requests the channels of an earlier epoch and of those after it, for topics that were never received. If such
    /// requests are in progress, they include it.
    void want_past(std::int64_t epoch);
    void drop_past() noexcept { past_.is_wanted = false; }
    [[nodiscard]] bool is_past_wanted() const noexcept { return past_.is_wanted; }
    /// Omits the key `removed`, which older gateways do not know.
    void leave_out_removed() noexcept { snapshot_.next.removed = false; }
    /// Likewise for `earlier_runs`.
    void leave_out_earlier_runs() noexcept { since_.next.earlier_runs = false; }
    /// Requests the history from its start again, because the log no longer has the requested epoch.
    void restart_since();
    /// Returns whether the history for --since began in an earlier epoch than the one that is requested now, which is
    /// thus requested from its start.
    [[nodiscard]] bool is_whole_epoch() const noexcept { return is_whole_epoch_; }

    /// Returns the next page, or nullopt if nothing is requested and `lines` has no holes.
    [[nodiscard]] std::optional<Request> next(TopicLines& lines) const;
    /// Process the reply to a page. Return whether it was the last one.
    [[nodiscard]] bool end_snapshot_page(const Answer& answer);
    [[nodiscard]] bool end_past_page(const Answer& answer, std::int64_t current_epoch);
    [[nodiscard]] bool end_since_page(const Answer& answer);
    /// Sets the position in the log where the gateway can resume the search for holes of the current epoch.
    void set_hole_position(std::optional<std::uint64_t> position) noexcept { hole_position_ = position; }

  private:
    /// Requests of one kind: the pages of one prefix after the other.
    struct Pages {
        Request next;
        std::size_t prefix_at = 0;
        bool is_wanted = false;
    };

    void begin(Pages& pages) const;
    [[nodiscard]] bool begin_next_prefix(Pages& pages) const;
    [[nodiscard]] bool begin_next_page(Pages& pages, const Answer& answer) const;
    [[nodiscard]] std::optional<Request> hole_request(TopicLines& lines) const;

    const std::vector<std::string> prefixes_;
    Pages past_;
    Pages snapshot_;
    Pages since_;                  // its epoch is 0 for the current one
    std::size_t past_epochs_ = 0;  // that were requested, one after the other
    bool has_snapshot_ = false;
    bool is_whole_epoch_ = false;
    std::optional<std::uint64_t> hole_position_;
};

}  // namespace telegate::tail
