#include "core/curve.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <atomic>
#include <thread>

using namespace telegate;

TEST_CASE("a client is accepted at every moment of a reload on another thread", "[core][curve]") {
    const telegate::test::ScratchDir scratch;
    const CurveKeyPair pair = make_curve_key_pair();
    save_curve_key_pair(pair, scratch.path("site"));
    CurveClients clients(scratch.path());
    std::atomic<bool> stop = false;
    std::atomic<int> refused = 0;
    std::thread reader([&] {
        while (!stop) {
            refused += clients.allows(pair.public_key) && clients.size() == 1 ? 0 : 1;
        }
    });
    for (int i = 0; i < 100; ++i) {
        clients.reload();
    }
    stop = true;
    reader.join();
    CHECK(refused == 0);
}
