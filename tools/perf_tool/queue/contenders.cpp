#include "contenders.hpp"

#include "engines.hpp"

#include <type_traits>

namespace telegate::perf {

namespace {

template <class Sample, OverflowPolicy policy>
using One = BoundedEngine<Sample, policy, Producers::one>;
template <class Sample, OverflowPolicy policy>
using Several = BoundedEngine<Sample, policy, Producers::several>;

template <class Sample>
void add_others(std::vector<Contender>& list, std::size_t producers) {
    list.push_back(watched_single<MutexEngine<Sample>, Sample>("mutex_queue"));
    if (producers == 1) {
        list.push_back(watched_single<BoostEngine<Sample>, Sample>("boost spsc single"));
        list.push_back(bulk<BoostEngine<Sample>, Sample>("boost spsc bulk"));
        if (const auto contender = readerwriterqueue_contender<Sample>()) {
            list.push_back(*contender);
        }
    }
    list.push_back(watched_single<MoodycamelEngine<Sample>, Sample>("moodycamel single"));
    list.push_back(watched_single<MoodycamelTokenEngine<Sample>, Sample>("moodycamel token"));
    list.push_back(bulk<MoodycamelTokenEngine<Sample>, Sample>("moodycamel bulk"));
}

template <class Sample>
void add_bounded(std::vector<Contender>& list, std::size_t producers) {
    using enum OverflowPolicy;
    if (producers == 1) {
        list.push_back(watched_single<One<Sample, block>, Sample>("Bounded single block"));
        list.push_back(single<One<Sample, drop_newest>, Sample>("Bounded single drop_newest"));
        list.push_back(single<One<Sample, drop_oldest>, Sample>("Bounded single drop_oldest"));
        list.push_back(bulk<One<Sample, block>, Sample>("Bounded bulk block"));
        list.push_back(bulk<One<Sample, drop_newest>, Sample>("Bounded bulk drop_newest"));
        list.push_back(bulk<One<Sample, drop_oldest>, Sample>("Bounded bulk drop_oldest"));
        list.push_back(watched_single<Several<Sample, block>, Sample>("Bounded several single"));
        list.push_back(bulk<Several<Sample, block>, Sample>("Bounded several bulk"));
        return;
    }
    list.push_back(single<Several<Sample, block>, Sample>("Bounded single block"));
    list.push_back(single<Several<Sample, drop_newest>, Sample>("Bounded single drop_newest"));
    list.push_back(single<Several<Sample, drop_oldest>, Sample>("Bounded single drop_oldest"));
    list.push_back(bulk<Several<Sample, block>, Sample>("Bounded bulk block"));
    list.push_back(bulk<Several<Sample, drop_newest>, Sample>("Bounded bulk drop_newest"));
    list.push_back(bulk<Several<Sample, drop_oldest>, Sample>("Bounded bulk drop_oldest"));
}

}  // namespace

template <class Sample>
std::vector<Contender> contenders(std::size_t producers) {
    std::vector<Contender> list;
    add_others<Sample>(list, producers);
    if constexpr (std::is_trivially_copyable_v<Sample>) {
        add_bounded<Sample>(list, producers);
    }
    return list;
}

template std::vector<Contender> contenders<TelemetrySample>(std::size_t);
template std::vector<Contender> contenders<InlineTextSample>(std::size_t);
template std::vector<Contender> contenders<StringSample>(std::size_t);

}  // namespace telegate::perf
