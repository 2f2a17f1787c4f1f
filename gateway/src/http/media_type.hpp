#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace telegate {

/// Returns the index of the media type in `given` that a client with this Accept field prefers, the first one among
/// equals; nullopt if it accepts none. An empty field accepts anything. Types are written as in Content-Type; of their
/// parameters only `version` is compared, and only if the client names one too. Threads: any.
[[nodiscard]] std::optional<std::size_t> preferred_type(std::string_view accept,
                                                        std::span<const std::string_view> given) noexcept;

/// Returns whether a Content-Type field names this type, ignoring its parameters. Threads: any.
[[nodiscard]] bool is_media_type(std::string_view content_type, std::string_view type) noexcept;

}  // namespace telegate
