#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::log_tool {

/// Appends seven bits per byte, the lowest first.
inline void append_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) {
        out += static_cast<char>(value | 0x80U);
    }
    out += static_cast<char>(value);
}

/// Writes Thrift structures in the compact protocol, as far as Parquet needs it.
///
/// Threads: one. Limits: none. Failure: throws std::bad_alloc.
class ThriftWriter {
  public:
    enum class Type : std::uint8_t {
        true_value = 1,
        false_value = 2,
        i32 = 5,
        i64 = 6,
        binary = 8,
        list = 9,
        structure = 12
    };

    explicit ThriftWriter(std::string& out) : out_(out) {}

    // Fields of the current structure, in ascending order of their ids.
    void i32(std::int16_t id, std::int32_t value) {
        field(id, Type::i32);
        append_signed(value);
    }
    void i64(std::int16_t id, std::int64_t value) {
        field(id, Type::i64);
        append_signed(value);
    }
    void boolean(std::int16_t id, bool value) { field(id, value ? Type::true_value : Type::false_value); }
    void binary(std::int16_t id, std::string_view value) {
        field(id, Type::binary);
        append_binary(value);
    }
    /// Begins a list of `count` elements.
    void list(std::int16_t id, Type element, std::size_t count) {
        constexpr std::size_t long_list = 15;
        field(id, Type::list);
        out_ += static_cast<char>(std::min(count, long_list) << 4U | static_cast<unsigned>(element));
        if (count >= long_list) {
            append_varint(out_, count);
        }
    }
    void begin(std::int16_t id) {
        field(id, Type::structure);
        begin();
    }
    void empty_structure(std::int16_t id) {
        begin(id);
        end();
    }

    // Elements of a list, and the outermost structure.
    void begin() { last_ids_.push_back(0); }
    void end() {
        out_ += '\0';
        last_ids_.pop_back();
    }
    void element(std::int32_t value) { append_signed(value); }
    void element(std::string_view value) { append_binary(value); }

  private:
    void field(std::int16_t id, Type type) {
        const int step = id - last_ids_.back();
        last_ids_.back() = id;
        if (step >= 1 && step <= 15) {
            out_ += static_cast<char>(static_cast<unsigned>(step) << 4U | static_cast<unsigned>(type));
        } else {
            out_ += static_cast<char>(type);
            append_signed(id);
        }
    }
    void append_binary(std::string_view value) {
        append_varint(out_, value.size());
        out_ += value;
    }
    void append_signed(std::int64_t value) {
        append_varint(out_, static_cast<std::uint64_t>(value) << 1U ^ static_cast<std::uint64_t>(value >> 63));
    }
    std::string& out_;
    std::vector<std::int16_t> last_ids_;  // by structure
};

}  // namespace telegate::log_tool
