#pragma once

#include "core/ledger.hpp"

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace telegate {

/// The fields of a log line, in order: key=value as text, members as JSON. A repeated key becomes an array in JSON.
///
/// Threads: one. Limits: none of its own. Failure: may throw std::bad_alloc.
class LogFields {
  public:
    /// Adds a value that is usually one word: as text, it is quoted only if needed.
    LogFields& add(std::string_view key, std::string_view word) { return put(key, Kind::word, word); }
    template <std::integral Number>
    LogFields& add(std::string_view key, Number value) {
        if constexpr (std::is_same_v<Number, bool>) {
            return number(key, value ? "true" : "false");
        } else {
            return number(key, std::to_string(value));
        }
    }
    /// Adds a value that is a sentence, such as a reason: as text, it is always quoted.
    LogFields& quote(std::string_view key, std::string_view sentence) { return put(key, Kind::sentence, sentence); }
    /// Adds a number that is already formatted, such as "0.35".
    LogFields& number(std::string_view key, std::string_view digits) { return put(key, Kind::number, digits); }
    LogFields& append(const LogFields& more);

    [[nodiscard]] bool empty() const noexcept { return fields_.empty(); }
    void pop_back() { fields_.pop_back(); }
    /// Returns "key=value key=value". Unreadable bytes are escaped, see to_readable(), and quotes within quotes become
    /// \", so that no value can end early and add its own fields.
    [[nodiscard]] std::string text() const;
    /// Returns `,"key":value`, once per key. `_` is appended to a key that every line has, such as time.
    [[nodiscard]] std::string json_members() const;

  private:
    enum class Kind : std::uint8_t { word, sentence, number };
    struct Field {
        std::string key;
        Kind kind;
        std::string value;
    };

    LogFields& put(std::string_view key, Kind kind, std::string_view value) {
        fields_.push_back({std::string(key), kind, std::string(value)});
        return *this;
    }
    [[nodiscard]] static std::string value_text(const Field& field);
    [[nodiscard]] static std::string value_json(const Field& field);

    std::vector<Field> fields_;
};

/// A log line: a message and fields. Log formats it as text or JSON.
///
/// Threads: one. Limits: Log writes at most PIPE_BUF bytes. Failure: may throw std::bad_alloc.
struct LogLine {
    LogLine(std::string_view words) : message(words) {}  // implicit: a line without fields is just its message
    LogLine(const char* words) : message(words) {}
    LogLine(std::string words) : message(std::move(words)) {}
    LogLine(std::string_view words, LogFields more) : message(words), fields(std::move(more)) {}

    template <class Value>
    LogLine& add(std::string_view key, const Value& value) {
        fields.add(key, value);
        return *this;
    }
    LogLine& quote(std::string_view key, std::string_view sentence) {
        fields.quote(key, sentence);
        return *this;
    }
    LogLine& append(const LogFields& more) {
        fields.append(more);
        return *this;
    }
    [[nodiscard]] std::string text() const;
    /// Returns `"message":"..."` and the members. If they exceed `bytes_max`, the last fields are omitted and a member
    /// "cut" is added.
    [[nodiscard]] std::string json_members(std::size_t bytes_max) const;

    std::string message;
    LogFields fields;
};

/// Returns readable text, in quotes if it is empty or contains spaces, quotes or equals signs. Threads: any.
[[nodiscard]] std::string log_value(std::string_view bytes);

/// Returns the counts of one device's samples: sampled, published, ... Threads: any.
[[nodiscard]] LogFields ledger_fields(const LedgerCounts& counts);

}  // namespace telegate
