#pragma once

#include "core/page_size.hpp"

#include <cstddef>
#include <utility>

namespace telegate::test {

/// Sets another page size until the end of a test.
/// Threads: no other one may read it. Limits: none. Failure: none.
class PageSize {
  public:
    explicit PageSize(std::size_t bytes) : before_(std::exchange(page_bytes, bytes)) {}
    ~PageSize() { page_bytes = before_; }
    PageSize(const PageSize&) = delete;
    PageSize& operator=(const PageSize&) = delete;

  private:
    const std::size_t before_;
};

}  // namespace telegate::test
