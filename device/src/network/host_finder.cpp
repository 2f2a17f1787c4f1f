#include "network/host_finder.hpp"

#include "path_fault.hpp"

#include <netdb.h>
#include <poll.h>

#include <system_error>
#include <utility>

namespace telegate::network {

HostFinder::Found HostFinder::find(const CancelSignal* cancel, MonoTime until) {
    if (HostLookup::Result numeric = HostLookup::numeric(wanted_.host, wanted_.port); numeric.error == 0) {
        return {Woken::ready, std::move(numeric.addresses), {}};
    }
    if (!lookup_) {
        try {
            lookup_.emplace(wanted_.host, wanted_.port);
        } catch (const std::system_error& error) {
            return {Woken::ready, {}, error_words(error.code().value())};
        }
    }
    const Woken woken = wait_for(lookup_->descriptor(), POLLIN, cancel, until).woken;
    if (woken != Woken::ready) {
        return {woken, {}, {}};
    }
    HostLookup::Result result = lookup_->take();
    lookup_.reset();
    Found found{Woken::ready, std::move(result.addresses), {}};
    if (result.error != 0) {
        found.what = ::gai_strerror(result.error);
    } else if (found.addresses.empty()) {
        found.what = "no address found";
    }
    return found;
}

}  // namespace telegate::network
