#pragma once

#include "core/unique_fd.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::host {

/// Returns the names in a directory with this prefix and suffix, sorted by the numbers between them; empty if it cannot
/// be read.
[[nodiscard]] std::vector<std::string> names_in(const std::string& directory, std::string_view prefix,
                                                std::string_view suffix);

/// Lists the names in a directory in pieces, without allocating.
///
/// Threads: one at a time.
/// Limits: one descriptor while it is open; a piece is what fits in the caller's buffer.
/// Failure: open() returns false, or next() returns Step::failed and has closed the directory.
class DirectoryNames {
  public:
    enum class Step { more, end, failed };

    bool open(const char* path) noexcept;
    void close() noexcept { fd_ = {}; }
    [[nodiscard]] bool is_open() const noexcept { return fd_.get() >= 0; }

    /// Calls `visit` with each name of the next piece, except "." and "..". `buffer` must be aligned like memory from
    /// new, and `visit` must not modify it.
    template <class Visit>
    Step next(std::span<char> buffer, Visit visit) {
        std::size_t bytes = 0;
        const Step step = fill(buffer, bytes);
        for (std::size_t at = 0; at < bytes;) {
            const std::string_view name = name_at(buffer, at);
            if (name != "." && name != "..") {
                visit(name);
            }
        }
        return step;
    }

  private:
    Step fill(std::span<char> buffer, std::size_t& bytes) noexcept;
    static std::string_view name_at(std::span<const char> buffer, std::size_t& at) noexcept;

    UniqueFd fd_;
};

}  // namespace telegate::host
