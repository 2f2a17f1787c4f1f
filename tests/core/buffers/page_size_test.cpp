#include "core/page_size.hpp"

#include "buffers/item_pool.hpp"
#include "buffers/slot_table.hpp"
#include "support/catch.hpp"
#include "support/page_size.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

struct PooledItem {
    std::uint32_t next;
    std::uint32_t value;
    std::uint64_t more;
};

constexpr std::uint32_t items_count = 20'000;

}  // namespace

TEST_CASE("sizes are rounded up to whole pages of the system", "[core][pages]") {
    const std::size_t page = GENERATE(16'384U, 65'536U);
    const PageSize size(page);
    CHECK(whole_pages(0) == 0);
    CHECK(whole_pages(1) == page);
    CHECK(whole_pages(page) == page);
    CHECK(whole_pages(page + 1) == 2 * page);
}

TEST_CASE("a table of slots grows and shrinks by whole pages", "[core][pages]") {
    const std::size_t page = GENERATE(16'384U, 65'536U);
    const PageSize size(page);
    SlotTable table;
    for (std::uint32_t item = 1; item <= items_count; ++item) {
        table.reserve_one();
        table.insert(item * 2'654'435'761U, item);
        REQUIRE(table.memory_bytes() % page == 0);
    }
    CHECK(table.find(7 * 2'654'435'761U, [](std::uint32_t item) { return item == 7; }) == 7);
    for (std::uint32_t item = 1; item <= items_count; ++item) {
        table.erase(item * 2'654'435'761U, item);
    }
    CHECK(table.size() == 0);
    CHECK(table.memory_bytes() == page);
}

TEST_CASE("a pool of items counts the whole pages that it uses", "[core][pages]") {
    const std::size_t page = GENERATE(16'384U, 65'536U);
    const PageSize size(page);
    ItemPool<PooledItem> pool;
    std::vector<std::uint32_t> items;
    pool.reserve(items_count);
    for (std::uint32_t value = 0; value < items_count; ++value) {
        items.push_back(pool.allocate());
        pool[items.back()].value = value;
    }
    CHECK(pool[items[items_count / 2]].value == items_count / 2);
    CHECK(pool.memory_bytes() >= whole_pages(items_count * sizeof(PooledItem)));
    for (const std::uint32_t item : items) {
        pool.release(item);
    }
    CHECK(pool.memory_bytes() < 4 * whole_pages(1'024 * sizeof(PooledItem)));
}
