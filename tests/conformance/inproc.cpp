#include "conformance/conformance.hpp"

namespace telegate::test {
namespace {

Endpoint fresh_inproc(const ScratchDir& /*unused*/) {
    static unsigned count = 0;
    return {Transport::inproc, {}, 0, "conformance " + std::to_string(++count)};
}

const ConformingTransport inproc({"inproc", fresh_inproc, fresh_inproc, false});

}  // namespace
}  // namespace telegate::test
