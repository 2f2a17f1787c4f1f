#include "rest/status_cache.hpp"

#include "support/catch.hpp"

#include <memory>
#include <string>

using namespace telegate;
using namespace std::chrono_literals;

namespace {

/// Numbers its texts.
struct Numbered {
    int made = 0;
    StatusCache cache{[this] {
        ++made;
        return std::make_shared<const std::string>(std::to_string(made));
    }};
};

constexpr MonoTime cache_start{1s};

}  // namespace

TEST_CASE("a status is made once for all who ask within a moment", "[gateway][rest]") {
    Numbered numbered;
    CHECK(*numbered.cache.get(cache_start) == "1");
    CHECK(*numbered.cache.get(cache_start + StatusCache::age_max - 1ns) == "1");
    CHECK(*numbered.cache.get(cache_start + StatusCache::age_max) == "2");
}

TEST_CASE("what is dropped is not shown again", "[gateway][rest]") {
    Numbered numbered;
    CHECK(*numbered.cache.get(cache_start) == "1");
    numbered.cache.drop();
    CHECK(*numbered.cache.get(cache_start) == "2");
}

TEST_CASE("a status that was being made while something changed is not kept", "[gateway][rest]") {
    StatusCache* self = nullptr;
    int made = 0;
    StatusCache cache([&] {
        self->drop();
        return std::make_shared<const std::string>(std::to_string(++made));
    });
    self = &cache;
    CHECK(*cache.get(cache_start) == "1");
    CHECK(*cache.get(cache_start) == "2");
}

TEST_CASE("a status that could not be had is asked for again", "[gateway][rest]") {
    int asked = 0;
    StatusCache cache([&asked] {
        ++asked;
        return StatusCache::Text();
    });
    CHECK(cache.get(cache_start) == nullptr);
    CHECK(cache.get(cache_start) == nullptr);
    CHECK(asked == 2);
}
