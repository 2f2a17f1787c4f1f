#include "conformance/conformance.hpp"

namespace telegate::test {
namespace {

Endpoint fresh(const ScratchDir& /*unused*/) {
    static unsigned count = 0;
    return {Transport::inproc, {}, 0, "conformance " + std::to_string(++count)};
}

const ConformingTransport inproc({"inproc", fresh, fresh, false});

}  // namespace
}  // namespace telegate::test
