#include "contenders.hpp"

#include "engines.hpp"

#include <type_traits>

namespace telegate::perf {

namespace {

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

template <class Sample, OverflowPolicy policy>
void add_bounded(std::vector<Contender>& list, const char* single_name, const char* bulk_name) {
    using Engine = BoundedEngine<Sample, policy>;
    list.push_back(policy == OverflowPolicy::block ? watched_single<Engine, Sample>(single_name)
                                                   : single<Engine, Sample>(single_name));
    list.push_back(bulk<Engine, Sample>(bulk_name));
}

}  // namespace

template <class Sample>
std::vector<Contender> contenders(std::size_t producers) {
    std::vector<Contender> list;
    add_others<Sample>(list, producers);
    if constexpr (std::is_trivially_copyable_v<Sample>) {
        using enum OverflowPolicy;
        add_bounded<Sample, block>(list, "Bounded single block", "Bounded bulk block");
        add_bounded<Sample, drop_newest>(list, "Bounded single drop_newest", "Bounded bulk drop_newest");
        add_bounded<Sample, drop_oldest>(list, "Bounded single drop_oldest", "Bounded bulk drop_oldest");
    }
    return list;
}

template std::vector<Contender> contenders<TelemetrySample>(std::size_t);
template std::vector<Contender> contenders<InlineTextSample>(std::size_t);
template std::vector<Contender> contenders<StringSample>(std::size_t);

}  // namespace telegate::perf
