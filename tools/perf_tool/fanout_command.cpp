#include "command.hpp"
#include "transport/matrix_command.hpp"
#include "transport/selection.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

[[nodiscard]] std::string names_of(const std::vector<std::size_t>& sizes) {
    std::string names;
    for (const std::size_t size : sizes) {
        names += (names.empty() ? "" : ", ") + size_name(size);
    }
    return names;
}

}  // namespace

Command::Action describe_fanout_command(CLI::App& options) {
    const auto chosen = std::make_shared<FanoutSelection>();
    add_options(options, *chosen);
    return [chosen](const CommonOptions& common) {
        Matrix matrix{"fanout", "messages per second", {}, cells_of(*chosen)};
        matrix.parameters = {{"work", "one publisher, a thread for each subscriber, nothing lost"},
                             {"counted", "one topic: delivered to all subscribers; several: published"},
                             {"payload", names_of(chosen->sizes)}};
        return measure_matrix(std::move(matrix), *chosen, common.runs);
    };
}

}  // namespace telegate::perf
