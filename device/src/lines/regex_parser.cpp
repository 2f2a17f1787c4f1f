#include "core/text.hpp"
#include "core/topic.hpp"
#include "device/option_error.hpp"
#include "lines/line_fields.hpp"
#include "lines/line_parser.hpp"

#include <re2/re2.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telegate {
namespace {

/// Memory for the program and states of one pattern; the default of the library is 8 MiB.
constexpr std::int64_t pattern_memory_max = 1'024 * 1'024;

RE2::Options to_options() {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(pattern_memory_max);
    return options;
}

[[noreturn]] void refuse_pattern(const std::string& pattern, const std::string& why) {
    throw OptionError("pattern", "invalid pattern: \"" + pattern + "\": " + why);
}

/// Matches the named groups of a regular expression, in time linear in the line length.
class RegexParser final : public LineParser {
  public:
    explicit RegexParser(const std::string& pattern) : expression_(pattern, to_options()) {
        if (!expression_.ok()) {
            refuse_pattern(pattern, expression_.error());
        }
        for (const auto& [index, name] : expression_.CapturingGroupNames()) {
            names_.emplace_back(static_cast<std::size_t>(index), name);
        }
        if (names_.empty()) {
            refuse_pattern(pattern, "no named group; must have at least one group (?P<name>...)");
        }
        if (names_.size() > LineFields::fields_max) {
            refuse_pattern(pattern, "too many named groups; must be at most " + std::to_string(LineFields::fields_max));
        }
        groups_.resize(names_.back().first + 1);
    }

    [[nodiscard]] std::optional<std::vector<std::string>> field_names() const override {
        std::vector<std::string> names;
        names.reserve(names_.size());
        for (const auto& [index, name] : names_) {
            names.push_back(to_topic_part(name));
        }
        return names;
    }

  private:
    /// A group that did not take part in the match produces no field.
    LineResult parse_text(std::string_view line, LineFields& fields) override {
        if (!expression_.Match({line.data(), line.size()}, 0, line.size(), RE2::UNANCHORED, groups_.data(),
                               static_cast<int>(groups_.size()))) {
            return {LineResult::Status::ignored, {}};
        }
        for (const auto& [index, name] : names_) {
            const re2::StringPiece& group = groups_[index];
            if (group.data() != nullptr) {
                (void)fields.add(name, number_or_text(trimmed({group.data(), group.size()})));
            }
        }
        return {};
    }

    const RE2 expression_;
    std::vector<std::pair<std::size_t, std::string>> names_;  // by group
    std::vector<re2::StringPiece> groups_;
};

}  // namespace

std::unique_ptr<LineParser> make_regex_parser(const LineFormat& format) {
    return std::make_unique<RegexParser>(format.pattern);
}

}  // namespace telegate
