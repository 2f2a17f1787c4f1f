#include "rest/status_cache.hpp"

namespace telegate {

StatusCache::Text StatusCache::get(MonoTime now) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t generation = generation_;
    if (text_ == nullptr || made_in_ != generation || now - made_at_ >= age_max) {
        text_ = nullptr;
        text_ = render_();
        made_at_ = now;
        made_in_ = generation;
    }
    return text_;
}

}  // namespace telegate
