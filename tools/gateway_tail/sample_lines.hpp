#pragma once

#include "sample.hpp"
#include "tail_options.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace telegate::tail {

/// Formats samples as lines: aligned text, JSON objects, or CSV (RFC 4180, but with LF line ends).
///
/// Threads: one. Limits: none; it appends to the given string. Failure: std::bad_alloc.
class SampleLines {
  public:
    SampleLines(OutputFormat format, bool is_colored) noexcept : format_(format), is_colored_(is_colored) {}

    /// Returns the header line, which only CSV has.
    [[nodiscard]] std::string_view head() const noexcept;
    void append(std::string& out, const Sample& sample);
    /// Widens the topic column for this topic.
    void make_room(std::string_view topic) noexcept;

  private:
    void append_text(std::string& out, const Sample& sample);
    void append_colored(std::string& out, std::string_view color, std::string_view text) const;
    static void append_json(std::string& out, const Sample& sample);
    static void append_csv(std::string& out, const Sample& sample);

    OutputFormat format_;
    bool is_colored_;
    std::size_t topic_width_ = 16;  // grows with the topics
};

}  // namespace telegate::tail
