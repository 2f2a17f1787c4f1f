#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace telegate {

/// Without the spaces and tabs around it, which HTTP allows around each part of a field. Threads: any.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// Which of the media types `given` a client with this Accept field likes best; the first of several alike. nullopt:
/// it wants none of them. An empty field wants anything. A type is as in Content-Type; of its parameters only `version`
/// is looked at, when the client names one too. Threads: any.
[[nodiscard]] std::optional<std::size_t> preferred_type(std::string_view accept,
                                                        std::span<const std::string_view> given) noexcept;

/// Whether a Content-Type field says this type, whatever its parameters. Threads: any.
[[nodiscard]] bool is_media_type(std::string_view content_type, std::string_view type) noexcept;

}  // namespace telegate
