#pragma once

#include "core/bytes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

namespace telegate {

/// The text frames of one message, viewed as bytes.
/// Threads: one. Limits: up to 8 frames need no allocation. Failure: may throw std::bad_alloc for more.
class FrameList {
  public:
    explicit FrameList(std::initializer_list<std::string_view> texts) {
        if (texts.size() <= few_.size()) {
            std::transform(texts.begin(), texts.end(), few_.begin(), as_bytes);
            frames_ = std::span(few_).first(texts.size());
        } else {
            std::transform(texts.begin(), texts.end(), std::back_inserter(many_), as_bytes);
            frames_ = many_;
        }
    }
    FrameList(const FrameList&) = delete;
    FrameList& operator=(const FrameList&) = delete;

    [[nodiscard]] std::span<const Bytes> frames() const noexcept { return frames_; }

  private:
    std::array<Bytes, 8> few_;
    std::vector<Bytes> many_;
    std::span<const Bytes> frames_;
};

}  // namespace telegate
