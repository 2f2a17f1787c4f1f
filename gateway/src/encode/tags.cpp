#include "encode/tags.hpp"

#include "base/json_excerpt.hpp"
#include "encode/sample_members.hpp"

namespace telegate {

std::string json_tags_member(const Tags& tags) {
    std::string member;
    for (const Tag& tag : tags) {
        member += (member.empty() ? ",\"" + std::string(sample_member::tags.name) + "\":{" : ",") +
                  json_text(tag.name) + ':' + json_text(tag.value);
    }
    return member.empty() ? member : member + '}';
}

}  // namespace telegate
