#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

class LineParser;

/// Splits a stream of bytes into lines, which end with LF, CR LF or CR. The division of the bytes between calls makes
/// no difference. A line end between quotes of the format is part of the line, as an LF.
///
/// Threads: one at a time.
/// Limits: bytes_max for a line without its end. A longer line is dropped up to its next line end, even if that is
///         between quotes, and counted. Allocates once.
/// Failure: none except std::bad_alloc of the constructor.
class LineAssembler {
  public:
    /// `format` determines which line ends are between quotes; nullptr: none.
    explicit LineAssembler(std::size_t bytes_max, const LineParser* format = nullptr);

    /// Removes bytes from the front of `input`, up to and including the next line end. Returns the line without its
    /// end, valid until the next call and as long as `input` is; nullopt if `input` is used up.
    [[nodiscard]] std::optional<std::string_view> next(std::string_view& input) noexcept;

    /// Returns the unterminated last line after the end of the input; nullopt if there is none.
    [[nodiscard]] std::optional<std::string_view> finish() noexcept;

    /// Drops the line that has begun. With `within_line`, the bytes up to the next line end are also dropped, without
    /// being counted.
    void restart(bool within_line) noexcept;

    /// Returns the number of lines dropped because of their length.
    [[nodiscard]] std::uint64_t overlong() const noexcept { return overlong_; }
    [[nodiscard]] std::size_t bytes_max() const noexcept { return bytes_max_; }

  private:
    enum class State : std::uint8_t { keeping, overlong, skipping };

    void keep(std::string_view part) noexcept;
    void clear() noexcept;
    [[nodiscard]] bool goes_on(std::string_view line) const noexcept;
    [[nodiscard]] std::optional<std::string_view> end_line(std::string_view part, bool is_last) noexcept;

    const std::size_t bytes_max_;
    const LineParser* const format_;
    std::string kept_;          // the beginning of a line from earlier calls
    std::size_t quoted_ = 0;    // bytes of kept_ up to the last line end, which is between quotes; 0: none
    bool kept_is_out_ = false;  // the last call returned kept_ as a line; the next call clears it
    bool after_cr_ = false;     // an LF now belongs to the previous line end
    State state_ = State::keeping;
    std::uint64_t overlong_ = 0;
};

}  // namespace telegate
