#include "command.hpp"
#include "transport/matrix_command.hpp"
#include "transport/selection.hpp"

#include <memory>
#include <utility>

namespace telegate::perf {

Command::Action describe_fanout_command(CLI::App& options) {
    const auto chosen = std::make_shared<FanoutSelection>();
    add_options(options, *chosen);
    return [chosen](const CommonOptions& common) {
        Matrix matrix{"fanout", "messages per second", {}, cells_of(*chosen)};
        matrix.parameters = {{"work", "one publisher, a thread for each subscriber, nothing lost"},
                             {"counted", "one topic: delivered to all subscribers; several: published"},
                             {"payload", size_name(chosen->size)}};
        return measure_matrix(std::move(matrix), *chosen, common.runs);
    };
}

}  // namespace telegate::perf
