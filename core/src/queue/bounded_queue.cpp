#include "core/bounded_queue.hpp"

namespace telegate {

std::string_view to_string(OverflowPolicy policy) noexcept {
    switch (policy) {
        case OverflowPolicy::drop_oldest: return "drop_oldest";
        case OverflowPolicy::drop_newest: return "drop_newest";
        case OverflowPolicy::block: return "block";
    }
    return "";
}

}  // namespace telegate
