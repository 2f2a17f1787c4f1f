#include "rest/status_cache.hpp"

#include "support/catch.hpp"

#include <memory>
#include <string>

using namespace telegate;
using namespace std::chrono_literals;

namespace {

/// A status whose texts are numbered.
struct Numbered {
    int made = 0;
    StatusCache cache{[this] {
        ++made;
        return std::make_shared<const std::string>(std::to_string(made));
    }};
};

constexpr MonoTime cache_start{1s};

}  // namespace

TEST_CASE("one status is rendered for all requests within a short time", "[gateway][rest]") {
    Numbered numbered;
    CHECK(*numbered.cache.get(cache_start) == "1");
    CHECK(*numbered.cache.get(cache_start + StatusCache::age_max - 1ns) == "1");
    CHECK(*numbered.cache.get(cache_start + StatusCache::age_max) == "2");
}

TEST_CASE("a dropped status is not shown again", "[gateway][rest]") {
    Numbered numbered;
    CHECK(*numbered.cache.get(cache_start) == "1");
    numbered.cache.drop();
    CHECK(*numbered.cache.get(cache_start) == "2");
}

TEST_CASE("a status rendered during a change is not cached", "[gateway][rest]") {
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

TEST_CASE("an unavailable status is requested again", "[gateway][rest]") {
    int asked = 0;
    StatusCache cache([&asked] {
        ++asked;
        return StatusCache::Text();
    });
    CHECK(cache.get(cache_start) == nullptr);
    CHECK(cache.get(cache_start) == nullptr);
    CHECK(asked == 2);
}
