#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace telegate {

/// Reserves memory for this many more items.
template <class Item>
void reserve_more(std::vector<Item>& items, std::size_t count) {
    if (items.capacity() - items.size() < count) {
        items.reserve(std::max(2 * items.size(), items.size() + count));
    }
}

}  // namespace telegate
