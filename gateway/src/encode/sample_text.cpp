#include "encode/sample_text.hpp"

namespace telegate {

void SampleText::append(std::string& out, const TelemetrySample& sample) {
    const std::lock_guard lock(mutex_);
    const std::size_t before = out.size();
    out.resize(before + encoder_.bytes_max(sample));
    out.resize(before + encoder_.encode(sample, out.data() + before));
}

}  // namespace telegate
