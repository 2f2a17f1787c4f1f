#include "core/ledger.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

using namespace telegate;

namespace {

template <std::size_t cells>
std::array<std::uint64_t, cells> copy_of(const CounterPage& page) {
    std::array<std::uint64_t, cells> out{};
    page.copy(out);
    return out;
}

}  // namespace

TEST_CASE("a new page contains only zeros", "[core][counter_page]") {
    const CounterPage page(3);
    CHECK(page.cells() == 3);
    CHECK(copy_of<3>(page) == std::array<std::uint64_t, 3>{});
}

TEST_CASE("a copy contains what was added up to the last commit", "[core][counter_page]") {
    CounterPage page(2);
    page.begin();
    page.add(0, 5);
    page.add(1, 7);
    page.commit();
    page.begin();
    page.add(0, 1);
    page.commit();
    CHECK(copy_of<2>(page) == std::array<std::uint64_t, 2>{6, 7});
}

TEST_CASE("a page without cells can be copied", "[core][counter_page]") {
    const CounterPage page(0);
    page.copy({});
    CHECK(page.cells() == 0);
}

TEST_CASE("a reader never sees half of a change, or an older change after a newer one",
          "[core][counter_page][thread]") {
    constexpr std::size_t cells = 24;
    CounterPage page(cells);
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        while (!stop.load(std::memory_order_relaxed)) {
            page.begin();
            for (std::size_t cell = 0; cell < cells; ++cell) {
                page.add(cell, 1);
            }
            page.commit();
            std::this_thread::yield();
        }
    });
    std::uint64_t torn = 0;
    std::uint64_t backward = 0;
    std::uint64_t last = 0;
    for (int round = 0; round < 5'000 || last == 0; ++round) {
        const auto seen = copy_of<cells>(page);
        torn += std::all_of(seen.begin(), seen.end(), [&seen](auto value) { return value == seen[0]; }) ? 0U : 1U;
        backward += seen[0] < last ? 1U : 0U;
        last = seen[0];
    }
    stop = true;
    writer.join();
    CHECK(torn == 0);
    CHECK(backward == 0);
}
