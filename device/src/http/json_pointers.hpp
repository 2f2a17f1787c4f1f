#pragma once

#include "metrics/json_scan.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace telegate::http {

/// Hash for maps with text keys that are looked up by std::string_view.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};

/// Returns whether the text is a JSON pointer (RFC 6901) to a member or element, such as /pumps/0/speed.
[[nodiscard]] bool is_json_pointer(std::string_view text) noexcept;

/// Finds the values of a JSON text by JSON pointers.
///
/// Threads: one.
/// Limits: those of JsonScan; values whose pointer is longer than pointer_bytes_max cannot be found.
/// Failure: read() returns false if the text is not JSON; then nothing was found. If an object has a duplicate member,
/// the first one is found.
class JsonPointers {
  public:
    static constexpr std::size_t pointer_bytes_max = 512;

    /// The pointers must be valid and unique.
    explicit JsonPointers(const std::vector<std::string>& pointers);

    /// Receives the index of a pointer and the event of its value, which may begin an object or array.
    using Found = std::function<void(std::size_t index, const metrics::JsonScan& scan, metrics::JsonEvent event)>;

    [[nodiscard]] bool read(std::string_view text, const Found& found);

  private:
    struct Level {
        std::size_t pointer_bytes = 0;  // of the object or array itself
        bool is_array = false;
        std::size_t next_index = 0;
    };

    void enter(std::string_view name, bool is_raw);
    void add_sample(const metrics::JsonScan& scan, metrics::JsonEvent event, const Found& found);

    std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>> index_of_;
    metrics::JsonRepeats repeats_;
    std::string pointer_;  // to the current value
    std::vector<Level> levels_;
};

}  // namespace telegate::http
