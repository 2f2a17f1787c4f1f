#include "encode/sample_text.hpp"

#include "base/json_object.hpp"
#include "encode/sample_members.hpp"

namespace telegate {

void SampleText::append(std::string& out, const TelemetrySample& sample) {
    const std::lock_guard lock(mutex_);
    const std::size_t before = out.size();
    out.resize(before + encoder_.bytes_max(sample));
    out.resize(before + encoder_.encode(sample, out.data() + before));
}

void describe_sample(JsonObject& out) {
    out.name_schema("Sample");
    for (const sample_member::Member& member : sample_member::all) {
        out.set_optional(!member.is_required);
        out.add_text(member.name, member.schema, nullptr);
    }
}

}  // namespace telegate
