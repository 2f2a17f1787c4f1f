#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace telegate::exec {

/// The last line of a text that is not blank, where a command usually reports its error.
///
/// Threads: one.
/// Limits: bytes_max of a line, the rest is ignored; control bytes become spaces.
/// Failure: none.
class LastLine {
  public:
    static constexpr std::size_t bytes_max = 120;  // fits into a status text after its prefix

    void clear() noexcept { line_.size = last_.size = 0; }
    void feed(std::string_view bytes) noexcept {
        for (const char c : bytes) {
            if (c == '\n' || c == '\r') {
                end_line();
            } else if (line_.size < bytes_max) {
                const auto byte = static_cast<unsigned char>(c);
                line_.bytes[line_.size++] = byte < ' ' || byte == 0x7F ? ' ' : c;
            }
        }
    }
    /// Returns "" if there was no line.
    [[nodiscard]] std::string_view text() const noexcept { return line_.is_blank() ? last_.text() : line_.text(); }

  private:
    struct Line {
        std::array<char, bytes_max> bytes{};
        std::size_t size = 0;

        [[nodiscard]] std::string_view text() const noexcept { return {bytes.data(), size}; }
        [[nodiscard]] bool is_blank() const noexcept { return text().find_first_not_of(' ') == std::string_view::npos; }
    };

    void end_line() noexcept {
        if (!line_.is_blank()) {
            last_ = line_;
        }
        line_.size = 0;
    }

    Line line_;  // the unfinished line
    Line last_;
};

}  // namespace telegate::exec
