// In place of readerwriterqueue.cpp, where it is not installed.
#include "contenders.hpp"

namespace telegate::perf {

template <class Sample>
std::optional<Contender> readerwriterqueue_contender() {
    return std::nullopt;
}

template std::optional<Contender> readerwriterqueue_contender<TelemetrySample>();
template std::optional<Contender> readerwriterqueue_contender<InlineTextSample>();
template std::optional<Contender> readerwriterqueue_contender<StringSample>();

}  // namespace telegate::perf
