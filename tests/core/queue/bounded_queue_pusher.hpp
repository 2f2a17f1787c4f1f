#pragma once

#include "core/bounded_queue.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace telegate::test {

inline constexpr auto no_loss = [](const auto&, QueueLoss) {
};

inline std::vector<int> numbers(int first, int count) {
    std::vector<int> items(static_cast<std::size_t>(count));
    for (int index = 0; index < count; ++index) {
        items[static_cast<std::size_t>(index)] = first + index;
    }
    return items;
}

template <class T>
std::vector<T> pop_up_to(BoundedQueue<T>& queue, std::size_t count) {
    std::vector<T> out(count);
    out.resize(queue.pop(out));
    return out;
}

/// Pushes items and records the losses.
struct Pusher {
    BoundedQueue<int>& queue;
    BoundedQueue<int>::Producer* producer = &queue.first();
    std::vector<int> lost{};
    std::vector<QueueLoss> losses{};

    void push(const std::vector<int>& items) {
        queue.push(*producer, std::span<const int>(items), [this](int item, QueueLoss loss) {
            lost.push_back(item);
            losses.push_back(loss);
        });
    }
};

}  // namespace telegate::test
