#include "core/text.hpp"
#include "lines/line_fields.hpp"
#include "lines/line_parser.hpp"
#include "lines/nmea_sentences.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace telegate {
namespace {

constexpr std::size_t address_bytes = 5;  // two characters for the talker, three for the type
constexpr std::size_t talker_bytes = 2;

/// Formats a byte as two hexadecimal digits, as at the end of a sentence.
std::string hex_text(unsigned byte) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    return {digits[byte / 16 % 16], digits[byte % 16]};
}

std::optional<unsigned> to_byte(std::string_view hex) noexcept {
    constexpr std::size_t digits = 2;
    return hex.size() == digits ? parse_number<unsigned>(hex, 16) : std::nullopt;
}

unsigned sum_of(std::string_view bytes) noexcept {
    unsigned sum = 0;
    for (const char byte : bytes) {
        sum ^= static_cast<unsigned char>(byte);
    }
    return sum;
}

/// Parses NMEA 0183 sentences from any talker: $GPGGA,...*47.
class NmeaParser final : public LineParser {
  public:
    explicit NmeaParser(bool checksum_required) : checksum_required_(checksum_required) {}

    [[nodiscard]] std::optional<std::vector<std::string>> field_names() const override {
        std::vector<std::string> names{"gsv.*.in_view"};
        for (const nmea::SentenceRule& rule : nmea::sentences()) {
            for (const nmea::FieldRule& field : rule.fields) {
                names.emplace_back(field.name);
            }
        }
        return names;
    }

  private:
    /// More than fit in the 82 bytes of a standard sentence, and more than any device sends.
    static constexpr std::size_t parts_max = 64;

    LineResult parse_text(std::string_view line, LineFields& fields) override {
        std::string_view body = trimmed(line);
        if (body.front() == '\\') {  // a tag block, which has its own checksum
            body.remove_prefix(std::min(body.find('\\', 1), body.size() - 1) + 1);
        }
        if (body.empty() || (body.front() != '$' && body.front() != '!')) {
            return refuse_("no $ or ! at the start of", line);
        }
        body.remove_prefix(1);
        if (const auto refusal = check_sum(body)) {
            return *refusal;
        }
        const std::size_t count = split(body);
        if (count > parts_max) {
            return refuse_("more than 64 fields in", body);
        }
        const std::string_view address = parts_[0];
        if (address.empty()) {
            return refuse_("no address in", line);
        }
        if (address.front() == 'P' || address.size() != address_bytes) {  // proprietary, a query, or unknown
            return {LineResult::Status::ignored, {}};
        }
        return take_sentence({parts_.data(), count}, fields);
    }

    /// Removes the checksum from `body` and checks it.
    std::optional<LineResult> check_sum(std::string_view& body) {
        const std::size_t star = body.rfind('*');
        if (star == std::string_view::npos) {
            return checksum_required_ ? std::optional(refuse_("no checksum in", body)) : std::nullopt;
        }
        const std::string_view given = body.substr(star + 1);
        body = body.substr(0, star);
        const unsigned sum = sum_of(body);
        if (to_byte(given) != sum) {
            return refuse_("wrong checksum in", body.substr(0, body.find(',')),
                           ": \"" + std::string(excerpt(given)) + "\"; expected " + hex_text(sum));
        }
        return std::nullopt;
    }

    /// Fills parts_. Returns the number of parts, or more than parts_max if there are too many.
    std::size_t split(std::string_view body) noexcept {
        for (std::size_t count = 0; count < parts_max; ++count) {
            const std::size_t comma = body.find(',');
            parts_[count] = body.substr(0, comma);
            if (comma == std::string_view::npos) {
                return count + 1;
            }
            body.remove_prefix(comma + 1);
        }
        return parts_max + 1;
    }

    LineResult take_sentence(std::span<const std::string_view> parts, LineFields& fields) {
        const std::string_view type = parts[0].substr(talker_bytes);
        if (type == "GSV") {
            return take_satellites(parts, fields);
        }
        bool is_known = false;
        for (const nmea::SentenceRule& rule : nmea::sentences()) {
            if (rule.type != type) {
                continue;
            }
            is_known = true;
            if (parts.size() < rule.fields_min) {
                return refuse_short(parts, rule.fields_min);
            }
            if (rule.variant.empty() || parts[rule.variant_index] == rule.variant) {
                return take_fields(rule, parts, fields);
            }
        }
        return is_known ? refuse_("unknown variant of", parts[0]) : LineResult{LineResult::Status::ignored, {}};
    }

    LineResult take_fields(const nmea::SentenceRule& rule, std::span<const std::string_view> parts,
                           LineFields& fields) {
        const std::string_view valid = parts[rule.validity_index];
        const bool is_valid = rule.validity == nmea::Validity::always ||
                              (rule.validity == nmea::Validity::flag ? valid == "A" : !valid.empty() && valid != "0");
        for (const nmea::FieldRule& field : rule.fields) {
            const auto value = nmea::to_value(field.kind, parts.subspan(field.index), fields);
            const bool is_current = is_valid || !field.needs_fix;
            // succeeds: sentences have few fields
            (void)fields.add(field.name, value && is_current ? *value : FieldValue{}, field.unit);
        }
        return {};
    }

    /// Each satellite system has its own count, taken from the first sentence of a group: gsv.gp.in_view.
    LineResult take_satellites(std::span<const std::string_view> parts, LineFields& fields) {
        constexpr std::size_t fields_min = 4;
        constexpr std::size_t number_index = 2;
        constexpr std::size_t in_view_index = 3;
        if (parts.size() < fields_min) {
            return refuse_short(parts, fields_min);
        }
        const auto value = nmea::to_value(nmea::Kind::integer, parts.subspan(in_view_index), fields);
        if (parts[number_index] == "1") {
            fields.append("gsv.");
            fields.append(parts[0].substr(0, talker_bytes));
            fields.append(".in_view");
            (void)fields.add(fields.take_text(), value.value_or(FieldValue{}), "1");
        }
        return {};
    }

    LineResult refuse_short(std::span<const std::string_view> parts, std::size_t fields_min) {
        return refuse_("fewer than " + std::to_string(fields_min) + " fields in", parts[0]);
    }

    const bool checksum_required_;
    std::array<std::string_view, parts_max> parts_;
    Refusal refuse_;
};

}  // namespace

std::unique_ptr<LineParser> make_nmea_parser(bool checksum_required) {
    return std::make_unique<NmeaParser>(checksum_required);
}

}  // namespace telegate
