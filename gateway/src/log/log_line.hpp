#pragma once

#include "core/ledger.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace telegate {

/// The fields of a log line, in order: key=value as text, members as JSON. A repeated key becomes an array in JSON.
///
/// Threads: one. Limits: none of its own. Failure: may throw std::bad_alloc.
class LogFields {
  public:
    /// Adds a value that is usually one word: as text, it is quoted only if needed.
    LogFields& add(std::string_view key, std::string_view word) { return put(key, Word{std::string(word)}); }
    LogFields& add(std::string_view key, const char* word) { return add(key, std::string_view(word)); }
    LogFields& add(std::string_view key, const std::string& word) { return add(key, std::string_view(word)); }
    template <class Number, std::enable_if_t<std::is_integral_v<Number>, int> = 0>
    LogFields& add(std::string_view key, Number value) {
        if constexpr (std::is_same_v<Number, bool>) {
            return put(key, value);
        } else if constexpr (std::is_signed_v<Number>) {
            return put(key, static_cast<std::int64_t>(value));
        } else {
            return put(key, static_cast<std::uint64_t>(value));
        }
    }
    /// Adds a value that is a sentence, such as a reason: as text, it is always quoted.
    LogFields& quote(std::string_view key, std::string_view sentence) {
        return put(key, Sentence{std::string(sentence)});
    }
    /// Adds a number that is already formatted, such as "0.35".
    LogFields& number(std::string_view key, std::string_view digits) { return put(key, Digits{std::string(digits)}); }
    LogFields& append(const LogFields& more);

    [[nodiscard]] bool empty() const noexcept { return fields_.empty(); }
    void pop_back() { fields_.pop_back(); }
    /// Returns "key=value key=value". Unreadable bytes are escaped, see to_readable(), and quotes within quotes become
    /// \", so that no value can end early and add its own fields.
    [[nodiscard]] std::string text() const;
    /// Returns `,"key":value`, once per key. `_` is appended to a key that every line has, such as time.
    [[nodiscard]] std::string json_members() const;

  private:
    struct Word {
        std::string text;
    };
    struct Sentence {
        std::string text;
    };
    struct Digits {
        std::string text;
    };
    using Value = std::variant<Word, Sentence, Digits, std::int64_t, std::uint64_t, bool>;
    struct Field {
        std::string key;
        Value value;
    };

    LogFields& put(std::string_view key, Value value) {
        fields_.push_back({std::string(key), std::move(value)});
        return *this;
    }
    [[nodiscard]] static std::string value_text(const Value& value);
    [[nodiscard]] static std::string value_json(const Value& value);

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
