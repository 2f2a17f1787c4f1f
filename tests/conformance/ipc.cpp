#include "conformance/conformance.hpp"

namespace telegate::test {
namespace {

Endpoint fresh_ipc(const ScratchDir& scratch) {
    static unsigned count = 0;
    return {Transport::ipc, {}, 0, scratch.path(std::to_string(++count))};
}

const ConformingTransport ipc({"ipc", fresh_ipc, fresh_ipc, true});
const ConformingTransport ipc_on_threads({"ipc, four threads", fresh_ipc, fresh_ipc, true, 4});

}  // namespace
}  // namespace telegate::test
