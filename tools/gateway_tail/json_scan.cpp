#include "json_scan.hpp"

#include "time_words.hpp"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace telegate::tail {
namespace {

/// A cursor over a text; after the first mismatch, every further call fails.
class Walk {
  public:
    explicit Walk(std::string_view text) noexcept : at_(text.data()), end_(text.data() + text.size()) {}

    [[nodiscard]] const char* at() const noexcept { return at_; }
    [[nodiscard]] bool is_at_end() const noexcept { return at_ == end_; }
    [[nodiscard]] char front() const noexcept { return at_ == end_ ? '\0' : *at_; }

    [[nodiscard]] bool skip(std::string_view expected) noexcept {
        if (!std::string_view(at_, left()).starts_with(expected)) {
            return false;
        }
        at_ += expected.size();
        return true;
    }
    /// Reads up to the next quote and skips it. Fails on escapes.
    [[nodiscard]] bool text(std::string_view& found) noexcept {
        const char* const begin = at_;
        for (; at_ != end_; ++at_) {
            if (*at_ == '"') {
                found = {begin, static_cast<std::size_t>(at_ - begin)};
                ++at_;
                return true;
            }
            if (*at_ == '\\' || static_cast<unsigned char>(*at_) < 0x20) {
                return false;
            }
        }
        return false;
    }
    template <class Number>
    [[nodiscard]] bool number(Number& value) noexcept {
        const auto [next, error] = std::from_chars(at_, end_, value);
        at_ = next;
        return error == std::errc();
    }

  private:
    [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

    const char* at_;
    const char* end_;
};

bool is_of_whole_number(char byte) noexcept {
    return byte == '-' || (byte >= '0' && byte <= '9');
}

/// Reads a JSON number; one with a decimal point or an exponent is a real number.
bool scan_number(Walk& walk, Value& value) noexcept {
    Walk whole = walk;
    value.type = ValueType::integer;
    if (whole.number(value.integer) && whole.front() != '.' && whole.front() != 'e' && whole.front() != 'E') {
        walk = whole;
        return true;
    }
    value.type = ValueType::real;
    return walk.number(value.real);
}

bool scan_value(Walk& walk, Value& value) noexcept {
    value = Value{};
    const char first = walk.front();
    if (is_of_whole_number(first)) {
        return scan_number(walk, value);
    }
    if (first == '"') {
        value.type = ValueType::text;
        return walk.skip("\"") && walk.text(value.text);
    }
    if (first == 'n') {
        return walk.skip("null");
    }
    value.type = ValueType::boolean;
    value.boolean = first == 't';
    return walk.skip(value.boolean ? "true" : "false");
}

bool scan_quality(Walk& walk, Quality& quality) noexcept {
    for (const Quality each : {Quality::good, Quality::uncertain, Quality::bad, Quality::stale}) {
        if (walk.skip(to_string(each))) {
            quality = each;
            return walk.skip("\"");
        }
    }
    return false;
}

/// Tags of the gateway, if it has any.
bool skip_tags(Walk& walk) noexcept {
    if (!walk.skip(R"(,"tags":{)")) {
        return true;
    }
    std::string_view text;
    do {
        if (!walk.skip("\"") || !walk.text(text) || !walk.skip(":\"") || !walk.text(text)) {
            return false;
        }
    } while (walk.skip(","));
    return walk.skip("}");
}

/// This key follows if the gateway's clock was not synchronized.
bool scan_end(Walk& walk) noexcept {
    std::int64_t mono_ns = 0;
    const bool fits =
        !walk.skip(R"(,"time_quality":"unsynchronized")") || (walk.skip(R"(,"mono_ns":)") && walk.number(mono_ns));
    return fits && walk.skip("}");
}

bool scan_time(Walk& walk, std::int64_t& time_utc_ns) noexcept {
    std::string_view text;
    return walk.text(text) && parse_sample_time(text, time_utc_ns);
}

}  // namespace

bool scan_sample(std::string_view& text, ScannedSample& scanned) noexcept {
    Walk walk(text);
    Sample& sample = scanned.sample;
    const bool fits = walk.skip(R"({"device":")") && walk.text(scanned.device) && walk.skip(R"(,"channel":")") &&
                      walk.text(scanned.channel) && walk.skip(R"(,"epoch":)") && walk.number(sample.epoch) &&
                      walk.skip(R"(,"seq":)") && walk.number(sample.seq) && walk.skip(R"(,"time":")") &&
                      scan_time(walk, sample.time_utc_ns) && walk.skip(R"(,"value":)") &&
                      scan_value(walk, sample.value) && walk.skip(R"(,"unit":")") && walk.text(sample.unit) &&
                      skip_tags(walk) && walk.skip(R"(,"quality":")") && scan_quality(walk, sample.quality) &&
                      scan_end(walk);
    if (!fits || sample.seq == 0 || sample.seq > seq_max) {
        return false;
    }
    text.remove_prefix(static_cast<std::size_t>(walk.at() - text.data()));
    return true;
}

}  // namespace telegate::tail
