#include "encode/labels.hpp"

#include "config/load.hpp"
#include "core/topic.hpp"
#include "support/catch.hpp"

#include <string>

namespace telegate {

TEST_CASE("a gateway without a name has that of its host", "[gateway][labels]") {
    CHECK(Labels(parse_settings("name = plant-7\n", "t.ini")).gateway() == "plant-7");
    const std::string host = Labels(Settings()).gateway();
    CHECK(is_topic_part(host));
    CHECK(host.find('.') == std::string::npos);
}

}  // namespace telegate
