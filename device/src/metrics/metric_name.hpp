#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace telegate::metrics {

/// A series: the readable name, and an identity that no other series has.
struct SeriesName {
    std::string_view shown;
    std::string_view identity;
    bool fits = true;  // false: too long
};

/// Builds a metric name in two forms: the readable name that becomes a channel, and a unique identity whose parts are
/// separated by bytes that no line can contain.
///
/// Threads: one.
/// Limits: bytes_max for each form; a longer name does not fit.
/// Failure: none.
class MetricName {
  public:
    static constexpr std::size_t bytes_max = 512;  // eight times the length of a channel name

    /// A position to return to.
    struct Mark {
        std::size_t shown = 0;
        std::size_t identity = 0;
        bool fits = true;
    };

    void clear() noexcept { return_to({}); }
    [[nodiscard]] Mark mark() const noexcept { return {shown_.size, identity_.size, fits_}; }
    void return_to(Mark mark) noexcept {
        shown_.size = mark.shown;
        identity_.size = mark.identity;
        fits_ = mark.fits;
    }

    /// Adds a part after a dot.
    void add_part(std::string_view text) noexcept {
        begin_part();
        add(text);
    }
    void begin_part() noexcept {
        if (shown_.size > 0) {
            put(shown_, '.');
        }
        put(identity_, part_mark);
    }
    void add(std::string_view text) noexcept {
        put(shown_, text);
        put(identity_, text);
    }
    void add(char c) noexcept {
        put(shown_, c);
        put(identity_, c);
    }
    void add_shown(std::string_view text) noexcept { put(shown_, text); }
    /// Adds a text only to the identity.
    void add_hidden(std::string_view text) noexcept {
        begin_hidden();
        put(identity_, text);
    }
    void begin_hidden() noexcept { put(identity_, hidden_mark); }
    void add_to_identity(char c) noexcept { put(identity_, c); }

    [[nodiscard]] SeriesName series() const noexcept {
        return {{shown_.bytes.data(), shown_.size}, {identity_.bytes.data(), identity_.size}, fits_};
    }

  private:
    static constexpr char part_mark = '\n';  // ends a line, so no line contains it
    static constexpr char hidden_mark = '\0';

    struct Text {
        std::array<char, bytes_max> bytes;
        std::size_t size = 0;
    };

    void put(Text& text, std::string_view more) noexcept {
        const std::size_t room = std::min(more.size(), bytes_max - text.size);
        std::copy_n(more.begin(), room, text.bytes.begin() + static_cast<std::ptrdiff_t>(text.size));
        text.size += room;
        fits_ = fits_ && room == more.size();
    }
    void put(Text& text, char c) noexcept { put(text, std::string_view(&c, 1)); }

    Text shown_;
    Text identity_;
    bool fits_ = true;
};

}  // namespace telegate::metrics
